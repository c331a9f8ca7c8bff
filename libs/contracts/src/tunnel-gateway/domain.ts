import type { CursorPage } from './cursor-page.js';

/** A name that belongs to a user, with everything below it, or that the user has still to prove. */
export interface DomainView {
  /** @asType integer */
  id: number;
  /** @asType integer */
  user_id: number;
  /** A-labels in lower case. */
  name: string;
  /** An administrator gave it to the user, or a DNS record proves it. */
  method: 'assigned' | 'dns';
  /** Hosts can be made of it once it is verified. */
  status: 'pending' | 'verified';
  /** What the DNS has to have where the name is proven by it. */
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
