import type { CursorPage } from './cursor-page.js';

/** A domain name, with all its subdomains, that a user owns or still has to verify. */
export interface DomainView {
  /** @asType integer */
  id: number;
  /** @asType integer */
  user_id: number;
  /** Lower case, in Punycode. */
  name: string;
  /** How it became the user's: an administrator assigned it, or a DNS record proves it. */
  method: 'assigned' | 'dns';
  /** Hosts can use it once it is verified. */
  status: 'pending' | 'verified';
  /** The DNS record that proves it; null for names that an administrator assigned. */
  record: DomainRecordView | null;
  /** @format date-time */
  verified_at: string | null;
  /** @format date-time */
  created_at: string;
  /** @format date-time */
  updated_at: string;
}

export interface DomainRecordView {
  name: string;
  type: 'TXT';
  value: string;
}

export type DomainPage = CursorPage<DomainView>;
