/** Lifetimes in seconds; clients read them from answers. */
export const CODE_SECONDS = 60;
export const ACCESS_SECONDS = 3_600;
/** A refresh token ends this long after it was issued, unless it is used. */
export const REFRESH_IDLE_SECONDS = 30 * 86_400;
/** No chain of refresh tokens outlives this. */
export const REFRESH_ABSOLUTE_SECONDS = 365 * 86_400;
/** Within this time of a refresh, the same refresh token gets the same successor: an answer may have been lost. */
export const GRACE_SECONDS = 20;
