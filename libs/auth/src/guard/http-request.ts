import type { IncomingHttpHeaders } from 'node:http';

/** The parts of Express's request that identify the caller. */
export interface HttpRequest {
  readonly headers: IncomingHttpHeaders;
  readonly method: string;
  /** Client address, also behind trusted proxies. */
  readonly ip?: string | undefined;
  /** Host with port, also behind trusted proxies. */
  readonly host: string;
}
