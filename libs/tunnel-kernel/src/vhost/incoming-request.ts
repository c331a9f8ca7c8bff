import type { Readable } from 'node:stream';
import type { HostConfig } from '../config.js';
import type { Reply } from './reply.js';
import type { RawRequest, RequestHead } from './request-rules.js';
import type { Arrival, VisitorOrigin } from './visitor-origin.js';

/** A request as the listeners of both versions pass it on. */
export interface IncomingRequest {
  raw: RawRequest;
  arrival: Arrival;
  /** Whether the certificate of this connection is valid for `host`. True without TLS. */
  covers: (host: string) => boolean;
  /** Null if the parser saw no body. */
  body: Readable | null;
  reply: Reply;
  /** The id of the recorded request that this one repeats. Absent: a visitor sent it. */
  replayOf?: string;
}

/** A parsed request with its host and its visitor's origin. */
export interface HostRequest {
  head: RequestHead;
  host: HostConfig;
  origin: VisitorOrigin;
  incoming: IncomingRequest;
}
