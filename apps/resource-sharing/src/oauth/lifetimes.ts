/** Lifetimes in seconds, as clients see them in answers. */
export const CODE_SECONDS = 60;
/** How long a device waits between two questions. */
export const DEVICE_POLL_SECONDS = 5;
export const ACCESS_SECONDS = 3_600;
/** A refresh token expires after this time unless it is used. */
export const REFRESH_IDLE_SECONDS = 30 * 86_400;
/** The maximum age of a chain of refresh tokens. */
export const REFRESH_ABSOLUTE_SECONDS = 365 * 86_400;
/**
 * Within this time of a refresh, the same refresh token gets the same successor, because the answer may have been lost.
 */
export const GRACE_SECONDS = 20;
