import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { der, type ServerCertificate } from '@gatehouse/tunnel-kernel';
import type { Queries } from '../common/edge-database.js';
import { alternativeName, bitString, ECDSA_WITH_SHA256, extension, SEQUENCE, SET } from '../common/x509-parts.js';

/** Notification channel for changed challenges. */
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

/** This edge's answers to ACME challenges. */
export class AcmeAnswers {
  private byToken: ReadonlyMap<string, string> = new Map();
  private byName: ReadonlyMap<string, ServerCertificate> = new Map();

  /** Loads the challenges from the database, and confirms there that they are served: an order waits for that. */
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

const COMMON_NAME = Buffer.from('0603550403', 'hex');
/** id-pe-acmeIdentifier (RFC 8737 6.1). */
const ACME_IDENTIFIER = Buffer.from('06082b0601050507011f', 'hex');

/** The self-signed certificate for a TLS-ALPN-01 challenge (RFC 8737 3). */
function alpnCertificate(name: string, keyAuthorization: string): ServerCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(0x0c, Buffer.from('acme challenge')))));
  const validity = der(SEQUENCE, der(0x17, Buffer.from('200101000000Z')), der(0x18, Buffer.from('99991231235959Z')));
  // A positive integer without a leading zero byte.
  const serial = der(0x02, Buffer.concat([Buffer.from([0x40]), randomBytes(15)]));
  const digest = createHash('sha256').update(keyAuthorization).digest();
  const extensions = der(
    0xa3,
    der(SEQUENCE, alternativeName(name), extension(ACME_IDENTIFIER, der(0x04, digest), true)),
  );
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const version3 = der(0xa0, der(0x02, Buffer.from([2])));
  const body = der(SEQUENCE, version3, serial, ECDSA_WITH_SHA256, issuer, validity, issuer, spki, extensions);
  const whole = der(SEQUENCE, body, ECDSA_WITH_SHA256, bitString(sign('sha256', body, privateKey)));
  const lines = whole.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    chain: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}
