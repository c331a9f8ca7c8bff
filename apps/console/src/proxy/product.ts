export const PRODUCT = 'proxy gateway';
