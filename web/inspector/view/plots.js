export class Plots { constructor() {} update() {} }
