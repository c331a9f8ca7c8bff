import type { Page } from './page.js';

/**
 * What a key may do: `read` lists, `write` changes, `admin` also manages keys and settings. Each includes the previous
 * one.
 */
export const API_KEY_SCOPES = ['read', 'write', 'admin'] as const;
export type ApiKeyScope = (typeof API_KEY_SCOPES)[number];

/** A key in `GET /api-keys`, without the key itself. */
export interface ApiKeyView {
  id: number;
  name: string;
  /** The prefix of this service's keys, `gpk_`. */
  key_prefix: string;
  last_four: string;
  scopes: ApiKeyScope[];
  created_at: string;
  /** Written with a delay of up to a minute. */
  last_used_at: string | null;
  last_used_ip: string | null;
  expires_at: string | null;
  revoked_at: string | null;
}

/** `GET /api-keys`: keys that still exist, newest first. */
export type ApiKeyListResponse = Page<ApiKeyView>;

/** `POST /api-keys`: the only answer that contains the key. */
export interface ApiKeyCreatedResponse extends ApiKeyView {
  key: string;
}

/** `DELETE /api-keys/{id}`. */
export interface ApiKeyRevokedResponse {
  id: number;
  revoked_at: string;
}
