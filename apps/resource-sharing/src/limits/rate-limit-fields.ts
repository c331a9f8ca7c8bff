/** One limit in the RateLimit fields of draft-ietf-httpapi-ratelimit-headers-10. */
export interface LimitState {
  readonly name: string;
  readonly quota: number;
  readonly windowMs: number;
  readonly remaining: number;
  readonly resetMs: number;
}

/** Headers that pages of other sites can read. */
export const EXPOSED_HEADERS = [
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'X-Endpoint-Limit',
  'X-Endpoint-Remaining',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-Request-Id',
  'X-Risk-Tier',
  'Idempotency-Replayed',
].join(', ');

/** A list of RFC 9651: the limits. Names have letters, digits and hyphens. */
export function policyField(limits: readonly Pick<LimitState, 'name' | 'quota' | 'windowMs'>[]): string {
  return limits
    .map(({ name, quota, windowMs }) => `"${name}";q=${quota};w=${Math.ceil(windowMs / 1_000)};qu="requests"`)
    .join(', ');
}

/** An item of RFC 9651: what is left of one limit, and in how many seconds it is full again. */
export function limitField({ name, remaining, resetMs }: LimitState): string {
  return `"${name}";r=${Math.max(0, Math.floor(remaining))};t=${Math.max(0, Math.ceil(resetMs / 1_000))}`;
}
