import type { CursorPage } from './cursor-page.js';

/** A domain, or a part of one, that leads to a client's targets. */
export interface HostView {
  /** @asType integer */
  id: number;
  /** @asType integer */
  client_id: number;
  /** A-labels in lower case: a name, `*.name` or `*`. */
  host: string;
  location: string;
  /** Other spellings of the location, which its target might take for it, are refused. */
  strict_path: boolean;
  /** Which visitors it takes. */
  scheme: 'all' | 'http' | 'https';
  target_addr: string;
  /** Whether it has a certificate: files, or one that was uploaded or ordered. `GET /certificates/{id}` returns it. */
  has_cert: boolean;
  /** 1: a certificate by ACME where there are no files, and http answers with a redirect to https. */
  auto_https: 0 | 1;
  status: 0 | 1;
  /** Sent to targets as `Host`; null: what the visitor said. */
  rewrite_host: string | null;
  /** Set on requests to targets; an empty value takes the field away. */
  request_headers: Record<string, string>;
  /** Set on answers to visitors; an empty value takes the field away. */
  response_headers: Record<string, string>;
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
