import { AppError } from '@gatehouse/platform';
import type { OpenScope } from '../credentials/caller.js';
import { openText } from '../messages/open-api.js';
import type { LimitCode, LimitScope } from './limit-rule.js';

export interface Refusal {
  readonly code: LimitCode;
  readonly scope: LimitScope;
  readonly retryAfterMs: number;
  /** Error code of the operation. Unlocking always answers RATE_LIMIT_EXCEEDED, with the finer code in `limit_code`. */
  readonly group?: OpenScope;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The 429 of a limit: whole seconds, never 0. */
export function limitRefusal({ code, scope, retryAfterMs, group, headers = {} }: Refusal): AppError {
  return new AppError(
    ...refusalParts({ code, scope, retryAfterMs, headers, ...(group === undefined ? {} : { group }) }),
  );
}

/** Options that a special error class passes on. */
export function refusalParts(refusal: Refusal): ConstructorParameters<typeof AppError> {
  const { code, scope, retryAfterMs, group, headers = {} } = refusal;
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000 - 1e-3));
  const shown = group === 'unlock' ? 'RATE_LIMIT_EXCEEDED' : code;
  return [
    shown,
    undefined,
    {
      retryAfterSeconds: seconds,
      headers: { ...headers, 'X-RateLimit-Reset': String(Math.ceil(Date.now() / 1_000) + seconds) },
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
