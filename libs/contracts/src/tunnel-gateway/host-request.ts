import type { CursorPage } from './cursor-page.js';
import type { HostRecordLevel } from './host.js';

/** A request that a visitor sent to a host, running or over. Secrets in it have been replaced by `***`. */
export interface HostRequestView {
  id: string;
  /** The name of the edge that served it; null: there is only one. */
  edge: string | null;
  method: string;
  scheme: 'http' | 'https';
  /** The host as the visitor wrote it, with its port. */
  host: string;
  /** Path and query. */
  path: string;
  /** `1.0`, `1.1` or `2`. */
  http_version: string;
  visitor_ip: string;
  /**
   * Of the answer; null: none was begun.
   * @asType integer
   */
  status: number | null;
  /** Why the gateway answered in place of the target, as in `X-Gw-Error`; null: it did not. */
  error: string | null;
  /** Why the answer is incomplete; null: it is complete, or the request is running. */
  failure: string | null;
  /** @format date-time */
  started_at: string;
  /** Milliseconds from the start until the visitor was verified; null: nothing to verify, or not yet. */
  verified_ms: number | null;
  /** Milliseconds from the start until the request went to a connection with the target; null: it did not. */
  sent_ms: number | null;
  /** Milliseconds from the start until the head of the answer; null: there is none. */
  answered_ms: number | null;
  /** Milliseconds from the start until the end; null: it is running. */
  ended_ms: number | null;
  /** @asType integer */
  request_head_bytes: number;
  /**
   * Known at the end.
   * @asType integer
   */
  request_body_bytes: number;
  /** @asType integer */
  answer_head_bytes: number;
  /**
   * Known at the end.
   * @asType integer
   */
  answer_body_bytes: number;
  /** The id of the request that this one repeats; null: a visitor sent it. */
  replay_of: string | null;
}

export interface HostRequestPage extends CursorPage<HostRequestView> {
  /** What is kept of the host's requests. */
  record_requests: HostRecordLevel;
  /** Names of edges that did not answer: their requests are missing. */
  silent_edges: string[];
}

export interface HostMessageHeader {
  name: string;
  value: string;
}

/** The beginning of a body. */
export interface HostMessageBody {
  content: string;
  /** `base64` where the body is not UTF-8. */
  encoding: 'utf8' | 'base64';
  /** The rest was not kept. */
  truncated: boolean;
  /** It was compressed, and is shown unpacked. */
  unpacked: boolean;
  /** Secrets in it were masked. */
  masked: boolean;
}

export interface HostMessageView {
  headers: HostMessageHeader[];
  /** Null: there is none, or it is compressed in a way that the gateway cannot read. */
  body: HostMessageBody | null;
}

export interface HostRequestDetail extends HostRequestView {
  /** Null: the host keeps no heads and bodies. */
  request: HostMessageView | null;
  /** As the visitor got it. Null: none was begun, or the host keeps no heads and bodies. */
  answer: HostMessageView | null;
}

export interface HostReplayView {
  /** The request that was sent, with `replay_of`. It may still be running. */
  id: string;
  /** Names of header fields that were left out, because their values were masked. */
  left_out: string[];
}
