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
  /** Who may come in; all three lists empty: everybody who can sign in. */
  subjects: string[];
  names: string[];
  emails: string[];
}

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
  /** What is asked may be inside the gateway's network. */
  allow_private: boolean;
  /** Type `oauth`. */
  oauth: PolicyOAuthView | null;
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
