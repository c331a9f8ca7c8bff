import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { hasherFor, SECRET_PREFIX, type SecretKind } from './secret-hasher.js';

const hasher = hasherFor(randomBytes(32));

it.each(Object.entries(SECRET_PREFIX) as [SecretKind, string][])(
  'makes %s secrets that begin with %s',
  (kind, prefix) => {
    const { text, hash, lastFour } = hasher.create(kind);
    expect(text).toMatch(new RegExp(`^${prefix}[0-9A-Za-z]{49}$`));
    expect(text.slice(-4)).toBe(lastFour);
    expect(hasher.parse(kind, text)).toEqual(hash);
    for (const other of Object.keys(SECRET_PREFIX) as SecretKind[]) {
      if (other !== kind) expect(hasher.parse(other, text)).toBeUndefined();
    }
  },
);

it('hashes with a pepper, so that another secret key finds nothing', () => {
  const { text, hash } = hasher.create('access');
  expect(hasherFor(randomBytes(32)).parse('access', text)).not.toEqual(hash);
});

it('seals for the holder of a secret only, for every replica with the same secret key', () => {
  const key = randomBytes(32);
  const sealed = hasherFor(key).boxOf('parent').seal('successor');
  expect(hasherFor(key).boxOf('parent').open(sealed)).toBe('successor');
  expect(() => hasherFor(key).boxOf('other').open(sealed)).toThrow();
  expect(() => hasher.boxOf('parent').open(sealed)).toThrow();
});
