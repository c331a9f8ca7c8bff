import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { base32, parseBase32 } from './base32.js';
import { createTotpSecret, matchingTotpStep, totpCode, totpUri } from './totp.js';

/** RFC 6238 appendix B, SHA-1. */
const secret = Buffer.from('12345678901234567890');
const VECTORS: [seconds: number, code: string][] = [
  [59, '94287082'],
  [1_111_111_109, '07081804'],
  [1_111_111_111, '14050471'],
  [1_234_567_890, '89005924'],
  [2_000_000_000, '69279037'],
  [20_000_000_000, '65353130'],
];

describe('TOTP', () => {
  it.each(VECTORS)('at %d s is %s', (seconds, code) => {
    expect(totpCode(secret, Math.floor(seconds / 30), 8)).toBe(code);
    expect(matchingTotpStep(secret, code.slice(2), seconds * 1_000)).toBe(Math.floor(seconds / 30));
  });

  it('accepts codes of the previous and the next step, and no others', () => {
    const now = 1_234_567_890_000;
    const step = Math.floor(now / 30_000);
    for (const away of [-1, 0, 1]) {
      expect(matchingTotpStep(secret, totpCode(secret, step + away), now)).toBe(step + away);
    }
    for (const away of [-3, -2, 2, 3]) {
      expect(matchingTotpStep(secret, totpCode(secret, step + away), now)).toBeUndefined();
    }
  });

  it.each(['', '12345', '1234567', 'abcdef', '\u0661\u0662\u0663\u0664\u0665\u0666'])('does not accept %j', (code) => {
    expect(matchingTotpStep(secret, code, 59_000)).toBeUndefined();
  });

  it('has the URL that authenticator apps expect', () => {
    const uri = new URL(totpUri(secret, { issuer: 'Gatehouse tunnels', account: 'ada@example.org' }));
    expect(uri.href).toBe(
      'otpauth://totp/Gatehouse%20tunnels:ada%40example.org?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ' +
        '&issuer=Gatehouse%20tunnels&algorithm=SHA1&digits=6&period=30',
    );
    expect(createTotpSecret()).toHaveLength(20);
    expect(createTotpSecret()).not.toEqual(createTotpSecret());
  });
});

describe('base32', () => {
  it.each([
    ['', ''],
    ['f', 'MY'],
    ['fo', 'MZXQ'],
    ['foo', 'MZXW6'],
    ['foob', 'MZXW6YQ'],
    ['fooba', 'MZXW6YTB'],
    ['foobar', 'MZXW6YTBOI'],
  ])('of %j is %s (RFC 4648)', (text, expected) => {
    expect(base32(Buffer.from(text))).toBe(expected);
    expect(parseBase32(expected)?.toString()).toBe(text);
  });

  it('decodes what it encoded, and nothing else', () => {
    for (let length = 0; length < 40; length++) {
      const bytes = randomBytes(length);
      expect(parseBase32(base32(bytes))).toEqual(bytes);
    }
    expect(parseBase32('MZXW6===')).toBeNull();
    expect(parseBase32('01')).toBeNull();
  });
});
