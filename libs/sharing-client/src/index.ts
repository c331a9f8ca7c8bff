export { everyItem } from './every-item.js';
export type { RetryOptions } from './retries.js';
export type { components, operations, paths } from './schema.js';
export { SharingError, SignInRequiredError, type SharingErrorFacts } from './sharing-error.js';
export { SharingClient, type DeviceWish, type SharingClientOptions } from './sharing-client.js';
export type { PendingSignIn, SignInWish } from './sign-in.js';
export { MemoryTokens, type Tokens, type TokenStore } from './tokens.js';
