import { MASK, maskAddress } from '../recording/secrets.js';
import { firstField } from './request-fields.js';
import type { RequestHead } from './request-rules.js';

/** A request that is over, for a log. Secrets in addresses have been masked. */
export interface LoggedRequest {
  /** Milliseconds since the epoch, of its start. */
  startedAt: number;
  visitor: string;
  method: string;
  /** The host as the visitor wrote it. */
  authority: string;
  /** Path and query. */
  target: string;
  /** `1.0`, `1.1` or `h2`. */
  version: string;
  /** Of the answer; null: none was begun. */
  status: number | null;
  /** Bytes of the answer's body. */
  bytes: number;
  referer: string | undefined;
  userAgent: string | undefined;
}

export type LogRequest = (request: LoggedRequest) => void;

/** What visitors sign in with stands in queries of the gateway's own paths, under short names. */
const OWN_QUERY = /^(\/__gw\/[^?]*)\?.*$/;

function targetOf({ target: { forward } }: RequestHead): string {
  return OWN_QUERY.test(forward) ? forward.replace(OWN_QUERY, `$1?${MASK}`) : maskAddress(forward);
}

/** Calls the log. `head`: of the request. */
export function logTo(
  log: LogRequest,
  head: RequestHead,
  rest: Pick<LoggedRequest, 'startedAt' | 'visitor' | 'status' | 'bytes'>,
): void {
  const referer = firstField(head.fields, 'referer');
  log({
    ...rest,
    method: head.method,
    authority: head.authority,
    target: targetOf(head),
    version: head.version,
    referer: referer === undefined ? undefined : maskAddress(referer),
    userAgent: firstField(head.fields, 'user-agent'),
  });
}
