export class Refusals { constructor() {} update() {} }
