import type { HttpOptions } from '@gatehouse/platform';
import { readsIfMatch } from './if-match.js';

type Additions = NonNullable<NonNullable<HttpOptions['openapi']>['additions']>;

const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'The ETag of the row as it was read: 412 if it has changed since',
  schema: { type: 'string' },
};

/** draft-ietf-httpapi-idempotency-key-header-07. */
const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'A repeat of the request with the same key within 24 hours gets the answer of the first',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
};

/** Documents what runs before the controllers, or is the same in all of them. */
export const additions: Additions = ({ method, open, handler }) => {
  const failures = ['VALIDATION_FAILED', 'RATE_LIMITED'] as const;
  if (method === 'post' && !open) {
    return { failures: [...failures, 'CONFLICT', 'UNPROCESSABLE'], parameters: [IDEMPOTENCY_KEY] };
  }
  if (!readsIfMatch(handler)) return { failures };
  return { failures: [...failures, 'PRECONDITION_FAILED'], parameters: [IF_MATCH] };
};
