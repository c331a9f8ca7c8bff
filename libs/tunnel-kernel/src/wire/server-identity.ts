import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { der } from './der.js';
import { keyFingerprint } from './key-string.js';

/** Key and certificate of a server, PEM. */
export interface ServerIdentity {
  key: string;
  certificate: string;
}

/** The previous identity, for agents that know no other. */
export interface FormerIdentity extends ServerIdentity {
  /** Milliseconds since the epoch. */
  until: number;
}

const SEQUENCE = 0x30;
const ECDSA_WITH_SHA256 = der(SEQUENCE, Buffer.from('06082a8648ce3d040302', 'hex'));
const COMMON_NAME = Buffer.from('0603550403', 'hex');

/**
 * A new P-256 key with a self-signed certificate that never expires (RFC 5280 4.1.2.5). Agents pin the key and check
 * nothing else.
 */
export function createServerIdentity(name = 'gatehouse-tunnel'): ServerIdentity & { fingerprint: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
    certificate: selfSigned(name, privateKey, publicKey),
    fingerprint: keyFingerprint(publicKey),
  };
}

function selfSigned(name: string, privateKey: KeyObject, publicKey: KeyObject): string {
  const subject = der(SEQUENCE, der(0x31, der(SEQUENCE, COMMON_NAME, der(0x0c, Buffer.from(name)))));
  const validity = der(SEQUENCE, der(0x17, Buffer.from('200101000000Z')), der(0x18, Buffer.from('99991231235959Z')));
  // A positive integer without a leading zero byte.
  const serial = Buffer.concat([Buffer.from([0x40]), randomBytes(15)]);
  const version3 = der(0xa0, der(0x02, Buffer.from([2])));
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  const body = der(SEQUENCE, version3, der(0x02, serial), ECDSA_WITH_SHA256, subject, validity, subject, spki);
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey));
  const lines =
    der(SEQUENCE, body, ECDSA_WITH_SHA256, signature)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
