import type { Readable } from 'node:stream';
import type { HostConfig } from '../config.js';
import type { Reply } from './reply.js';
import type { RawRequest, RequestHead } from './request-rules.js';
import type { Arrival, VisitorOrigin } from './visitor-origin.js';

/** A request as a listener of either version hands it over. */
export interface IncomingRequest {
  raw: RawRequest;
  arrival: Arrival;
  /** Whether the certificate that this connection was opened with is good for `host`. True without TLS. */
  covers: (host: string) => boolean;
  /** Null where the parser says that there is none. */
  body: Readable | null;
  reply: Reply;
}

/** A request that was read, found a host, and whose visitor is known. */
export interface HostRequest {
  head: RequestHead;
  host: HostConfig;
  origin: VisitorOrigin;
  /** `Accept` of the visitor. */
  accept: string | undefined;
  incoming: IncomingRequest;
}
