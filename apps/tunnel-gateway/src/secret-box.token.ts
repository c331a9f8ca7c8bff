/** Injects the SecretBox made of the key that GATEHOUSE_SECRET_KEY or the home folder holds. */
export const SECRET_BOX = Symbol('SecretBox');
