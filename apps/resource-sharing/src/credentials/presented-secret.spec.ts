import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { digestOf } from './presented-secret.js';

const sha256 = (text: string): string => hash('sha256', text, 'base64');

describe('digestOf', () => {
  it('is the SHA-256 of each secret, whatever the connection presented before', () => {
    const connection = {};
    const secrets = ['hk_aaaa', 'hk_aaaa', 'hk_aaab', 'hk_aaaa', 'baaa_kh', 'hk_aaaaa', '', 'hk_aaaa'];
    for (const secret of secrets) expect(digestOf(secret, 'key', connection)).toBe(sha256(secret));
  });

  it('keeps keys and tokens of a connection apart, and connections from each other', () => {
    const [one, other] = [{}, {}];
    const digests = [
      digestOf('key of one', 'key', one),
      digestOf('token of one', 'token', one),
      digestOf('key of two', 'key', other),
      digestOf('key of one', 'key', one),
      digestOf('key of one', 'key'),
    ];
    const texts = ['key of one', 'token of one', 'key of two', 'key of one', 'key of one'];
    expect(digests).toEqual(texts.map(sha256));
  });
});
