import type { CursorPage } from './cursor-page.js';

/** How visitors of a resource prove who they are. */
export interface AuthPolicyView {
  /** @asType integer */
  id: number;
  resource_type: 'tunnel' | 'host' | 'client';
  /** @asType integer */
  resource_id: number;
  type: 'password' | 'basic' | 'callback' | 'oauth';
  has_password: boolean;
  /** Names of a `basic` policy. */
  users: string[];
  callback_url: string | null;
  /** Fields of the callback's answer that are set on requests to targets. */
  copy_headers: string[];
  enabled: 0 | 1;
  /**
   * How long one proof holds; 0: for this browser session, or this connection.
   * @asType integer
   */
  ttl_seconds: number;
  /** @format date-time */
  created_at: string | null;
  /** @format date-time */
  updated_at: string | null;
}

export type AuthPolicyPage = CursorPage<AuthPolicyView>;
