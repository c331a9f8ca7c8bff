import type { LoginThrottleLimits } from '@gatehouse/auth';

/**
 * Five failures a minute of one address and ten an hour of one address with one user. Nothing is counted for a user
 * wherever it comes from: whoever guesses elsewhere shuts nobody out.
 */
export const LOGIN_LIMITS: LoginThrottleLimits = {
  failures: 10,
  failureWindowSeconds: 3_600,
  addressFailures: 5,
  addressFailureWindowSeconds: 60,
  attempts: 100,
  attemptWindowSeconds: 60,
};
