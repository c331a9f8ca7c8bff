export type { ConsolePreferences } from '../console-preferences.js';

import type { CursorPage } from './cursor-page.js';
import type { TrafficQuotaView } from './traffic-quota.js';

export type TunnelUserRole = 'admin' | 'user' | 'viewer';

/** A user who can log in to the console. */
export interface TunnelUserView extends TrafficQuotaView {
  /** @asType integer */
  id: number;
  username: string;
  /** `admin`: everything; `user`: manages their own resources; `viewer`: reads their own resources. */
  role: TunnelUserRole;
  /** 1 enabled, 0 disabled. */
  status: 0 | 1;
  /** Whether logins need a code from an authenticator app. */
  totp: boolean;
  /** @format date-time */
  created_at: string | null;
  /** @format date-time */
  updated_at: string | null;
}

export type TunnelUserPage = CursorPage<TunnelUserView>;

export interface TunnelLoginView {
  /** Send it as `Authorization: Bearer`; browsers also get it as a cookie. */
  token: string;
  /**
   * Each use extends it, up to 12 hours after the login.
   * @format date-time
   */
  expires_at: string;
  user: TunnelUserView;
}

export interface TunnelSetupView {
  /** Whether the first administrator still has to be created, by `POST /auth/setup` with the setup token. */
  needed: boolean;
}

/** The secret for an authenticator; shown once. */
export interface TotpEnrolmentView {
  /** In Base32, for typing it in. */
  secret: string;
  /** For a QR code. */
  otpauth_uri: string;
}

/** Recovery codes: each replaces one code of an authenticator, once. Shown once. */
export interface RecoveryCodesView {
  recovery_codes: string[];
}

/** A session that has not ended. */
export interface TunnelSessionView {
  /** @asType integer */
  id: number;
  /** @asType integer */
  user_id: number;
  username: string;
  /** Its origin. */
  address: string | null;
  /** The user agent of the browser or program. */
  software: string | null;
  /** @format date-time */
  created_at: string | null;
  /** @format date-time */
  expires_at: string | null;
  /**
   * Updated with a delay of a few seconds.
   * @format date-time
   */
  last_used_at: string | null;
  last_used_ip: string | null;
  /** Whether this is the session that sent the request. */
  current: boolean;
}

export type TunnelSessionPage = CursorPage<TunnelSessionView>;

export interface EndedSessionsView {
  /** @asType integer */
  ended: number;
}

/** What a key may do. Each scope includes the previous one, and no key may do more than its user. */
export type TunnelApiKeyScope = 'read' | 'write' | 'admin';

/** An API key, without the key itself. */
export interface TunnelApiKeyView {
  /** @asType integer */
  id: number;
  name: string;
  /** @asType integer */
  user_id: number;
  key_prefix: string;
  last_four: string;
  scopes: TunnelApiKeyScope[];
  /** @format date-time */
  created_at: string;
  /** @format date-time */
  expires_at: string | null;
  /**
   * Updated with a delay of a few seconds.
   * @format date-time
   */
  last_used_at: string | null;
  last_used_ip: string | null;
}

/** The only answer that contains the key. */
export interface NewTunnelApiKeyView extends TunnelApiKeyView {
  key: string;
}

export type TunnelApiKeyPage = CursorPage<TunnelApiKeyView>;
