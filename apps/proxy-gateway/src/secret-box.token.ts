/** Injects the SecretBox made of the key that GATEHOUSE_SECRET_KEY or the home folder holds. */
export const SECRET_BOX = Symbol('SecretBox');

/** Injection token of the key of the channel to a kernel that runs on its own. */
export const KERNEL_CHANNEL_KEY = Symbol('KERNEL_CHANNEL_KEY');
