import { argon2Sync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hashPassword, needsRehash, verifyPassword } from './password-hash.js';

describe('password hashes', () => {
  it('verifies the password it was made from and no other', async () => {
    const stored = await hashPassword('correct horse');
    expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
    expect(await verifyPassword('correct horse', stored)).toBe(true);
    expect(await verifyPassword('correct horsE', stored)).toBe(false);
    expect(await verifyPassword('', stored)).toBe(false);
  });

  it('are salted: one password gives two hashes', async () => {
    expect(await hashPassword('same')).not.toBe(await hashPassword('same'));
  });

  it('accepts the other spelling of the same characters', async () => {
    const stored = await hashPassword('caf\u00e9');
    expect(await verifyPassword('cafe\u0301', stored)).toBe(true);
  });

  it('verifies a hash made elsewhere with other parameters and asks for a new one', async () => {
    const salt = Buffer.from('somesaltsomesalt');
    const parameters = { message: 'pw', nonce: salt, parallelism: 2, tagLength: 32, memory: 64, passes: 3 };
    const tag = argon2Sync('argon2id', parameters);
    const encode = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
    const stored = `$argon2id$v=19$m=64,t=3,p=2$${encode(salt)}$${encode(tag)}`;
    expect(await verifyPassword('pw', stored)).toBe(true);
    expect(needsRehash(stored)).toBe(true);
    expect(needsRehash(await hashPassword('pw'))).toBe(false);
  });

  it.each([
    ['nothing', undefined],
    ['an empty text', ''],
    ['another algorithm', '$2b$10$abcdefghijklmnopqrstuv'],
    [
      'greedy parameters',
      '$argon2id$v=19$m=9999999,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$c29tZXNhbHRzb21lc2FsdHNvbWVzYWx0c29tZXNhbHQ',
    ],
  ])('refuses %s', async (_what, stored) => {
    expect(await verifyPassword('anything', stored)).toBe(false);
  });

  it('does not hash a password of unreasonable length', async () => {
    await expect(hashPassword('x'.repeat(1_025))).rejects.toThrow(RangeError);
    expect(await verifyPassword('x'.repeat(1_025), undefined)).toBe(false);
  });
});
