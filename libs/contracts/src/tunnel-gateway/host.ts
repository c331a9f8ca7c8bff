import type { CursorPage } from './cursor-page.js';

export type HostRecordLevel = 'off' | 'requests' | 'full';

/** Where the visitors of a host are sent. */
export interface HostRedirect {
  /** An absolute URL, or a name: then the scheme and the port of the visitor stay. */
  to: string;
  status: 301 | 302 | 307 | 308;
  /** Whether path and query are appended, with `rewrite_path` in place of the location. */
  keep_path: boolean;
}

/** How the targets of a host are checked between visits. */
export interface HostHealthCheck {
  /** `http`: they answer `GET` with an expected status. `tcp`: they accept a connection. */
  type: 'http' | 'tcp';
  /** Path and query, as the target sees them. */
  path: string;
  /** A status, or a range with both ends. */
  expected_status: string;
  /** @asType integer */
  interval_seconds: number;
  /** @asType integer */
  timeout_seconds: number;
  /**
   * Successes in succession after which a target that was down is up.
   * @asType integer
   */
  healthy_threshold: number;
  /**
   * Failures in succession after which a target that was up is down.
   * @asType integer
   */
  unhealthy_threshold: number;
}

/** What the health checks of an edge found out about a target. */
export interface HostTargetView {
  /** With its scheme. */
  target: string;
  /** Visitors are not sent to one that is `down`. `unknown`: no agent is connected, or no check has ended yet. */
  state: 'up' | 'down' | 'unknown';
  /** Why the last check failed; `status`: it answered with another status. Null: it did not fail, or there was none. */
  reason: 'refused' | 'timeout' | 'unreachable' | 'name' | 'forbidden' | 'other' | 'tls' | 'no_http' | 'status' | null;
  /** Of the last answer in HTTP. */
  status: number | null;
  /**
   * When it came into this state; null: from the beginning.
   * @format date-time
   */
  since: string | null;
  /** @format date-time */
  checked_at: string | null;
  /** The edge that checks; null: there is only one. */
  edge: string | null;
}

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
  /** Answers of targets are compressed for visitors that accept it, where that is worth it. */
  compress: boolean;
  /** Visitors are sent elsewhere in place of being served. Null: they are served. */
  redirect: HostRedirect | null;
  /** Targets that fail are left out until they are healthy again. Null: no checks. */
  health_check: HostHealthCheck | null;
  /** What checks found out: each target at each edge that answers. Empty without checks. */
  targets: HostTargetView[];
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
