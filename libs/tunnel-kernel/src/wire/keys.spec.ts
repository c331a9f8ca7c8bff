import { createPrivateKey, X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { TunnelError } from '../errors.js';
import {
  agentKeyHash,
  certificateFingerprint,
  createAgentSecret,
  formatAgentKey,
  parseAgentKey,
  sameHash,
} from './key-string.js';
import { createServerIdentity } from './server-identity.js';

describe('the key of an agent', () => {
  it('has the secret and the fingerprint of the server', () => {
    const key = { secret: createAgentSecret(), fingerprint: createServerIdentity().fingerprint };
    expect(parseAgentKey(` ${formatAgentKey(key)}\n`)).toEqual(key);
    expect(createAgentSecret()).not.toBe(key.secret);
  });

  it.each([
    '',
    'gtk1',
    'gtk1..',
    `gtk2.${'a'.repeat(43)}.${'b'.repeat(43)}`,
    `gtk1.${'a'.repeat(42)}.${'b'.repeat(43)}`,
  ])('refuses %j without repeating it', (text) => {
    const read = (): unknown => parseAgentKey(text);
    expect(read).toThrow(TunnelError);
    expect(read).not.toThrow(/aaa|bbb/);
  });

  it('is stored as a hash', () => {
    const secret = createAgentSecret();
    expect(agentKeyHash(secret)).toMatch(/^[0-9a-f]{64}$/);
    expect(sameHash(agentKeyHash(secret), agentKeyHash(secret))).toBe(true);
    expect(sameHash(agentKeyHash(secret), agentKeyHash(`${secret}x`))).toBe(false);
    expect(sameHash(agentKeyHash(secret), '')).toBe(false);
  });
});

describe('a server identity', () => {
  it('is a self-signed certificate', () => {
    const { key, certificate, fingerprint } = createServerIdentity('tunnel.example');
    const parsed = new X509Certificate(certificate);
    expect(parsed.checkPrivateKey(createPrivateKey(key))).toBe(true);
    expect(parsed.verify(parsed.publicKey)).toBe(true);
    expect(parsed.subject).toBe('CN=tunnel.example');
    expect(parsed.validToDate.getUTCFullYear()).toBe(9999);
    expect(certificateFingerprint(certificate)).toBe(fingerprint);
  });
});
