import type { CursorPage } from './cursor-page.js';

export type HostRecordLevel = 'off' | 'requests' | 'full';

/** A domain, or a part of one, that leads to a client's targets. */
export interface HostView {
  /** @asType integer */
  id: number;
  /** @asType integer */
  client_id: number;
  /** A name, `*.name` or `*`, in lower case and Punycode. */
  host: string;
  location: string;
  /** Whether other spellings of the location, which its target might take for the same path, are refused. */
  strict_path: boolean;
  /** Replaces the location at the beginning of the path that targets receive; `/` removes it, null leaves it. */
  rewrite_path: string | null;
  /** Whether visitors come back to the target that they had, while it can be reached, by the cookie `gw_target_ID`. */
  sticky: boolean;
  /**
   * The longest body of a request in bytes; a longer one is answered with 413. 0: no limit.
   * @asType integer
   */
  max_body_bytes: number;
  /**
   * HTML that browsers get in place of the gateway's page when this host is not reached, is disabled or refuses a request;
   * `{status}` and `{reason}` in it are replaced. Null: the gateway's own page.
   */
  error_page: string | null;
  /** Whether it serves http, https or both. */
  scheme: 'all' | 'http' | 'https';
  /** `http://`, `https://` or `h2c://` and host:port, separated by commas; `tls://`: visitors speak TLS with the target itself. */
  target_addr: string;
  /** Whether it has a certificate, from files, uploaded or ordered. `GET /certificates/{id}` returns it. */
  has_cert: boolean;
  /** 1: a certificate is ordered by ACME unless there are files, and http requests are redirected to https. */
  auto_https: 0 | 1;
  status: 0 | 1;
  /** The `Host` that targets receive; null: the one that the visitor sent. */
  rewrite_host: string | null;
  /** Header fields to set on requests to targets; an empty value removes the field. */
  request_headers: Record<string, string>;
  /** Header fields to set on answers to visitors; an empty value removes the field. */
  response_headers: Record<string, string>;
  /** What is kept of its requests (`GET /hosts/{id}/requests`): nothing, a line for each, or also heads and the beginning of bodies. */
  record_requests: HostRecordLevel;
  /** @asType integer */
  inlet_flow: number;
  /** @asType integer */
  export_flow: number;
  /** @format date-time */
  created_at: string | null;
  /** @format date-time */
  updated_at: string | null;
}

export type HostPage = CursorPage<HostView>;
