import type { CursorPage } from './cursor-page.js';

/** The certificate of a host; its key is never shown. */
export interface CertificateView {
  /**
   * The id of the host.
   * @asType integer
   */
  id: number;
  /** Name of the host. */
  host: string;
  /** `file`: `cert_path` and `key_path`; `upload`: by `POST /hosts/{id}/cert`; `acme`: ordered for `auto_https`. */
  source: 'file' | 'upload' | 'acme';
  /**
   * `pending`: ordered, or will be soon. `failed`: there is none yet; `last_error` says why. `expiring`: expires soon.
   * `unusable`: its files cannot be read, or it is not valid for the current name of the host.
   */
  status: 'valid' | 'expiring' | 'expired' | 'pending' | 'failed' | 'unusable';
  subject: string | null;
  /** The DNS names that it is valid for. */
  names: string[];
  issuer: string | null;
  /** @format date-time */
  not_before: string | null;
  /** @format date-time */
  not_after: string | null;
  /** Why the last order failed, or why the files cannot be used. */
  last_error: string | null;
  /**
   * When it will be ordered or renewed; null: never, it is not ordered by the gateway.
   * @format date-time
   */
  next_renewal_at: string | null;
}

export type CertificatePage = CursorPage<CertificateView>;
