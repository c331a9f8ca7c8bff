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
  /** `file`: `cert_path` and `key_path`; `upload`: `POST /hosts/{id}/cert`; `acme`: ordered, as `auto_https` says. */
  source: 'file' | 'upload' | 'acme';
  /**
   * `pending`: ordered, or soon to be. `failed`: there is none yet, `last_error` says why. `expiring`: ends soon.
   * `unusable`: its files cannot be read, or it is not for the name that the host has now.
   */
  status: 'valid' | 'expiring' | 'expired' | 'pending' | 'failed' | 'unusable';
  subject: string | null;
  /** DNS names that it is valid for. */
  names: string[];
  issuer: string | null;
  /** @format date-time */
  not_before: string | null;
  /** @format date-time */
  not_after: string | null;
  /** Why the last order failed, or the files cannot be used. */
  last_error: string | null;
  /**
   * When it is ordered, or ordered again; null: by nobody.
   * @format date-time
   */
  next_renewal_at: string | null;
}

export type CertificatePage = CursorPage<CertificateView>;
