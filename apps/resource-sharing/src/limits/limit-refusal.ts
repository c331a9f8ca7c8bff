import { AppError } from '@gatehouse/platform';
import type { OpenScope } from '../credentials/caller.js';
import { openText } from '../messages/open-api.js';
import type { LimitCode, LimitScope } from './limit-rule.js';
import { limitField, policyField, type LimitState } from './rate-limit-fields.js';

export interface Refusal {
  readonly code: LimitCode;
  readonly scope: LimitScope;
  readonly retryAfterMs: number;
  /** Error code of the operation. Unlocking always answers RATE_LIMIT_EXCEEDED, with the finer code in `limit_code`. */
  readonly group?: OpenScope;
  /** The one that is reached: what a client reads in the fields is what it has to wait for. */
  readonly limit: Omit<LimitState, 'remaining'>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The 429 of a limit: whole seconds, never 0. */
export function limitRefusal(refusal: Refusal): AppError {
  return new AppError(...refusalParts(refusal));
}

/** Options that a special error class passes on. */
export function refusalParts(refusal: Refusal): ConstructorParameters<typeof AppError> {
  const { code, scope, retryAfterMs, group, limit, headers = {} } = refusal;
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000 - 1e-3));
  const shown = group === 'unlock' ? 'RATE_LIMIT_EXCEEDED' : code;
  return [
    shown,
    undefined,
    {
      retryAfterSeconds: seconds,
      headers: {
        'RateLimit-Policy': policyField([limit]),
        RateLimit: limitField({ ...limit, remaining: 0 }),
        'X-RateLimit-Limit': String(limit.quota),
        'X-RateLimit-Remaining': '0',
        'X-RateLimit-Reset': String(Math.ceil(Date.now() / 1_000) + seconds),
        ...headers,
      },
      members: {
        retry_after_seconds: seconds,
        limit_scope: scope,
        limit_scope_label: openText(`open.scopes.${scope}`),
        limit_code: code,
      },
      level: 'debug',
      limit: code.toLowerCase(),
    },
  ];
}
