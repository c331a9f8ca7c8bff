import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { namesCover } from '../common/certificate-facts.js';
import { SecretBoxError } from '@gatehouse/net';
import {
  accountPlace,
  certificatePlace,
  certificateSecret,
  createKeyBox,
  NO_PLACE,
  openKept,
  policyPlace,
} from '../common/key-box.js';

describe('names of certificates', () => {
  it.each([
    [['a.example'], 'a.example', true],
    [['*.example'], 'a.example', true],
    [['*.example'], 'b.a.example', false],
    [['*.example'], 'example', false],
    [['*.example'], '*.example', true],
    [['a.example'], '*.example', false],
    [['*.example'], '*.a.example', false],
    [['example'], 'a.example', false],
    [['localhost'], 'localhost', true],
    [[], 'localhost', false],
    [[], '*', true],
  ])('%j cover %s: %s', (names, host, covers) => expect(namesCover(names, host)).toBe(covers));
});

describe('private keys of certificates', () => {
  const secret = randomBytes(32);

  it('are sealed with a key derived for them', () => {
    const box = createKeyBox([certificateSecret(secret)]);
    const sealed = box.seal('a key');
    expect(sealed).not.toContain('a key');
    expect(box.open(sealed)).toBe('a key');
    expect(box.seal('a key')).not.toBe(sealed);
    expect(() => createKeyBox([secret]).open(sealed)).toThrow(/another GATEHOUSE_SECRET_KEY/);
  });

  it('open only for their host, also in the format of an earlier version', () => {
    const box = createKeyBox([secret]);
    const sealed = box.seal('a key', certificatePlace(1));
    expect(openKept(box, certificatePlace(1), sealed)).toBe('a key');
    for (const other of [certificatePlace(2), accountPlace('1'), policyPlace(1), NO_PLACE]) {
      expect(() => openKept(box, other, sealed)).toThrow(SecretBoxError);
    }
    expect(openKept(box, certificatePlace(1), box.seal('a key'))).toBe('a key');
  });

  it.each(['', 'c1.', 'c1.AAAA', 'v1.AAAA', 'nothing'])('"%s" is not a sealed key', (text) =>
    expect(() => createKeyBox([secret]).open(text)).toThrow(SecretBoxError),
  );

  it('cannot be opened after a change', () => {
    const box = createKeyBox([secret]);
    const [version = '', id = '', body = ''] = box.seal('a key').split('.');
    const bytes = Buffer.from(body, 'base64url');
    bytes[20] = (bytes[20] ?? 0) ^ 1;
    expect(() => box.open(`${version}.${id}.${bytes.toString('base64url')}`)).toThrow(SecretBoxError);
  });
});
