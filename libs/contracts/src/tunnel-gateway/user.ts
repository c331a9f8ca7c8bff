export type { ConsolePreferences } from '../console-preferences.js';

import type { CursorPage } from './cursor-page.js';

export type TunnelUserRole = 'admin' | 'user' | 'viewer';

/** A user who can log in to the console. */
export interface TunnelUserView {
  /** @asType integer */
  id: number;
  username: string;
  /** `admin`: everything; `user`: own clients and all under them; `viewer`: reads its own. */
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
  /** Goes into `Authorization: Bearer`; browsers get it as a cookie too. */
  token: string;
  /**
   * Moves on with use, 12 hours after the login at most.
   * @format date-time
   */
  expires_at: string;
  user: TunnelUserView;
}

export interface TunnelSetupView {
  /** Whether `POST /auth/setup` waits for someone with the setup token. */
  needed: boolean;
}

/** What an authenticator needs; shown once. */
export interface TotpEnrolmentView {
  /** In Base32, to enter by hand. */
  secret: string;
  /** For a picture. */
  otpauth_uri: string;
}

/** Each stands for one code of an authenticator, once; shown once. */
export interface RecoveryCodesView {
  recovery_codes: string[];
}

/** A login that has not ended. */
export interface TunnelSessionView {
  /** @asType integer */
  id: number;
  /** @asType integer */
  user_id: number;
  username: string;
  /** Where it came from. */
  address: string | null;
  /** The user agent of the browser or program. */
  software: string | null;
  /** @format date-time */
  created_at: string | null;
  /** @format date-time */
  expires_at: string | null;
  /**
   * Updated with a delay of some seconds.
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

/** What a key may do, each including the one before; never more than its user may at the moment. */
export type TunnelApiKeyScope = 'read' | 'write' | 'admin';

/** A key for programs. Never holds the key itself. */
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
   * Updated with a delay of some seconds.
   * @format date-time
   */
  last_used_at: string | null;
  last_used_ip: string | null;
}

/** The only time the key is shown. */
export interface NewTunnelApiKeyView extends TunnelApiKeyView {
  key: string;
}

export type TunnelApiKeyPage = CursorPage<TunnelApiKeyView>;
