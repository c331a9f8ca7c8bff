import type { LoginThrottleLimits } from '@gatehouse/auth';

/**
 * Five failures per minute and address, and ten per hour for an address and a user. There is no limit per user alone,
 * so that guessing from elsewhere locks nobody out.
 */
export const LOGIN_LIMITS: LoginThrottleLimits = {
  failures: 10,
  failureWindowSeconds: 3_600,
  addressFailures: 5,
  addressFailureWindowSeconds: 60,
  attempts: 100,
  attemptWindowSeconds: 60,
};
