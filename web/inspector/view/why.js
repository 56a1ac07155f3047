export class Why { constructor() {} update() {} }
