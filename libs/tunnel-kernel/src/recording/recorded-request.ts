/** `requests`: a line for each request. `full`: also heads and the beginning of bodies. */
export type RecordLevel = 'requests' | 'full';

/** Bytes of a message as it passed, as traffic is counted. */
export interface MessageBytes {
  head: number;
  body: number;
}

/** A request of a visitor, running or over. Secrets have been masked. */
export interface RecordedRequest {
  /** In the order of time, also between processes. */
  id: string;
  level: RecordLevel;
  /** Milliseconds since the epoch. */
  startedAt: number;
  method: string;
  scheme: 'http' | 'https';
  /** The host as the visitor wrote it. */
  authority: string;
  /** Path and query. */
  target: string;
  /** `1.0`, `1.1` or `2`. */
  version: string;
  visitor: string;
  /** Of the answer; null: none was begun. */
  status: number | null;
  /** Why the gateway itself answered (`X-Gw-Error`); null: the target did, or nobody yet. */
  error: string | null;
  /** Why the answer is incomplete; null: it is complete, or still running. */
  failure: string | null;
  /** Milliseconds from the start until the visitor was verified; null: not yet, or nothing to verify. */
  verifiedMs: number | null;
  /** … until the request was written to a connection with the target. */
  sentMs: number | null;
  /** … until the head of the answer. */
  answeredMs: number | null;
  /** … until the end; null: it is running. */
  endedMs: number | null;
  request: MessageBytes;
  answer: MessageBytes;
  /** The id of the request that this one repeats; null: a visitor sent it. */
  replayOf: string | null;
}

/** A body as it was kept. */
export interface RecordedBody {
  content: string;
  /** `base64` where it is not UTF-8. */
  encoding: 'utf8' | 'base64';
  /** The rest was not kept. */
  truncated: boolean;
  /** It was compressed (`Content-Encoding`) and is shown unpacked. */
  unpacked: boolean;
  /** Secrets in it were masked. */
  masked: boolean;
}

export interface RecordedMessage {
  /** Name and value. */
  fields: [name: string, value: string][];
  /** Null: there is none, or it could not be kept without secrets. */
  body: RecordedBody | null;
}

/** A recorded request with its heads and bodies; null where the host does not keep them. */
export interface RecordedDetail extends RecordedRequest {
  asked: RecordedMessage | null;
  answered: RecordedMessage | null;
}

/** What is answered of the requests of a host, newest first. */
export interface RecordList {
  items: RecordedDetail[];
  /** Older ones were left out because these are long enough, although fewer than asked for. */
  isCut: boolean;
}

/** What a list of recorded requests is narrowed to. */
export interface RecordFilter {
  /** Only this one. */
  id?: string | undefined;
  /** Only older ones than this. */
  before?: string | undefined;
  method?: string | undefined;
  /** `404`, `4xx`, or `failed`: incomplete, or answered by the gateway for the target. */
  status?: string | undefined;
  /** A part of path and query. */
  text?: string | undefined;
  /** An address. */
  visitor?: string | undefined;
}
