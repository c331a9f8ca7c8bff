export type { ConsolePreferences } from '../console-preferences.js';

/** `POST /auth/login`. */
export interface LoginResponse {
  /** JWT; send it as `Authorization: Bearer <token>`. */
  token: string;
  token_type: 'Bearer';
  /** Seconds until it expires. */
  expires_in: number;
  /** RFC 3339, UTC. */
  expires_at: string;
}

/** `GET /auth/status`. */
export interface AuthStatusResponse {
  /** False: the API is open and needs no credentials. */
  enabled: boolean;
}
