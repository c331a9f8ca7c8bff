import type { HttpOptions } from '@gatehouse/platform';

type Additions = NonNullable<NonNullable<HttpOptions['openapi']>['additions']>;

const IF_MATCH = {
  name: 'If-Match',
  in: 'header',
  required: false,
  description: 'The ETag of the row as it was read: 412 when somebody changed it since',
  schema: { type: 'string' },
};

/** What stands before the controllers, by the method of an operation. */
export const additions: Additions = ({ method }) => {
  const failures = ['VALIDATION_FAILED', 'RATE_LIMITED'] as const;
  if (method !== 'patch' && method !== 'delete') return { failures };
  return { failures: [...failures, 'PRECONDITION_FAILED'], parameters: [IF_MATCH] };
};
