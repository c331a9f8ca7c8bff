import { isPublicRoute } from '@gatehouse/auth';
import type { HttpOptions } from '@gatehouse/platform';
import { readsIfMatch } from '../wire/if-match.js';
import { SERVICE_VERSION } from '../service-version.js';

type OpenApiOptions = NonNullable<HttpOptions['openapi']>;
type Additions = NonNullable<OpenApiOptions['additions']>;

/** draft-ietf-httpapi-idempotency-key-header-07. */
const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description: 'A repeated request with the same key gets the answer of the first one',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
};

const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'The ETag of the row as it was read: 412 if it has changed since',
  schema: { type: 'string' },
};

/** What runs before the controllers: rate limits and repeated POST requests. */
const additions: Additions = ({ method, open, handler }) => {
  if (readsIfMatch(handler)) return { failures: ['RATE_LIMITED', 'PRECONDITION_FAILED'], parameters: [IF_MATCH] };
  if (method !== 'post' || open) return { failures: ['RATE_LIMITED'] };
  return { failures: ['RATE_LIMITED', 'CONFLICT', 'UNPROCESSABLE'], parameters: [IDEMPOTENCY_KEY] };
};

/** How the API describes itself. */
export const OPENAPI: OpenApiOptions = {
  path: '/api/v1/openapi.json',
  title: 'Proxy Gateway Management API',
  description: 'Nodes, subscriptions, rules, outbound policy, connections and logs of a forward proxy.',
  version: SERVICE_VERSION,
  schemas: new URL('../../contract-schemas.json', import.meta.url),
  isOpen: isPublicRoute,
  additions,
  descriptions: async () => (await import('./operation-descriptions.js')).OPERATION_DESCRIPTIONS,
  examples: async () => (await import('./examples.js')).loadExamples(),
};
