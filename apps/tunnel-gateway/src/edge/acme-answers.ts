import type { ServerCertificate } from '@gatehouse/tunnel-kernel';
import { alpnCertificate } from './alpn-certificate.js';
import type { Queries } from '../common/edge-database.js';

/** Told when what authorities may ask for has changed. */
export const ACME_CHANNEL = 'tunnel_gateway:acme';
const LIMIT = 1_000;

const READ = `
  SELECT type, name, token, key_authorization AS "keyAuthorization", served_at IS NOT NULL AS confirmed
  FROM tunnel_gateway_ops.acme_challenges
  WHERE expires_at > now() ORDER BY expires_at DESC LIMIT ${LIMIT}`;

const CONFIRM = `
  UPDATE tunnel_gateway_ops.acme_challenges SET served_at = now() WHERE token = ANY($1) AND served_at IS NULL`;

interface ChallengeRow {
  type: 'http-01' | 'tls-alpn-01';
  name: string;
  token: string;
  keyAuthorization: string;
  confirmed: boolean;
}

/** What this edge answers authorities that look whether a name leads here. */
export class AcmeAnswers {
  private byToken: ReadonlyMap<string, string> = new Map();
  private byName: ReadonlyMap<string, ServerCertificate> = new Map();

  /** Answers what the database holds, and writes there that it does: an order waits for that. */
  async load(queries: Queries): Promise<void> {
    const { rows } = await queries.query<ChallengeRow>(READ);
    this.byToken = new Map(
      rows.filter(({ type }) => type === 'http-01').map(({ token, keyAuthorization }) => [token, keyAuthorization]),
    );
    this.byName = new Map(
      rows
        .filter(({ type }) => type === 'tls-alpn-01')
        .map(({ name, keyAuthorization }) => [name, alpnCertificate(name, keyAuthorization)]),
    );
    const unconfirmed = rows.filter(({ confirmed }) => !confirmed).map(({ token }) => token);
    if (unconfirmed.length > 0) await queries.query(CONFIRM, [unconfirmed]);
  }

  /** For HTTP-01 (RFC 8555 8.3). */
  readonly http = (token: string): string | null => this.byToken.get(token) ?? null;

  /** For TLS-ALPN-01 (RFC 8737). */
  readonly tls = (name: string): ServerCertificate | null => this.byName.get(name.toLowerCase()) ?? null;
}
