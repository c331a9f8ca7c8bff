/** Injects the SecretBox of the service's secret keys. */
export const SECRET_BOX = Symbol('SECRET_BOX');
