import type { IncomingHttpHeaders } from 'node:http';

/** The parts of Express's request that identify the caller. */
export interface HttpRequest {
  readonly headers: IncomingHttpHeaders;
  readonly method: string;
  /** Client address, behind trusted proxies too. */
  readonly ip?: string | undefined;
  /** Host with port, behind trusted proxies too. */
  readonly host: string;
}
