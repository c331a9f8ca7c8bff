export const PRODUCT = 'tunnel gateway';
