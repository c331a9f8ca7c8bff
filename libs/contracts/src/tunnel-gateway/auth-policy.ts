import type { CursorPage } from './cursor-page.js';

/** A registration at an authorization server, without its secret. */
export interface PolicyOAuthView {
  issuer: string;
  server: 'standard' | 'resource_sharing';
  client_id: string;
  has_client_secret: boolean;
  scope: string | null;
  authorization_endpoint: string | null;
  token_endpoint: string | null;
  userinfo_endpoint: string | null;
  introspection_endpoint: string | null;
  /** Who is let in. If all three lists are empty, everyone who can sign in is. */
  subjects: string[];
  names: string[];
  emails: string[];
}

/** How visitors of a resource are authenticated. */
export interface AuthPolicyView {
  /** @asType integer */
  id: number;
  resource_type: 'tunnel' | 'host' | 'client';
  /** @asType integer */
  resource_id: number;
  type: 'password' | 'basic' | 'callback' | 'oauth';
  has_password: boolean;
  /** User names of a `basic` policy. */
  users: string[];
  callback_url: string | null;
  /** Header fields of the callback's answer that are copied to requests to targets. */
  copy_headers: string[];
  /** Whether the callback or authorization server may be inside the gateway's network. */
  allow_private: boolean;
  /** Only for type `oauth`. */
  oauth: PolicyOAuthView | null;
  enabled: 0 | 1;
  /**
   * Seconds for which a visitor stays authenticated; 0: for this browser session or connection.
   * @asType integer
   */
  ttl_seconds: number;
  /** @format date-time */
  created_at: string | null;
  /** @format date-time */
  updated_at: string | null;
}

export type AuthPolicyPage = CursorPage<AuthPolicyView>;
