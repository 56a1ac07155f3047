export class Sessions { constructor() {} update() {} }
