import { describe, expect, it, vi } from 'vitest';
import { checkPassword } from './check-password.js';
import { hashPassword, verifyPassword } from './password-hash.js';

/** scrypt hashes and other costs are of earlier versions; this one is argon2id at a cost of its own. */
async function outdated(password: string): Promise<string> {
  const { argon2Sync, randomBytes } = await import('node:crypto');
  const nonce = randomBytes(16);
  const tag = argon2Sync('argon2id', {
    message: password,
    nonce,
    parallelism: 1,
    tagLength: 32,
    memory: 128,
    passes: 1,
  });
  const encode = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
  return `$argon2id$v=19$m=128,t=1,p=1$${encode(nonce)}$${encode(tag)}`;
}

describe('a password check', () => {
  it('returns the hash for the right password, and nothing for a wrong one or a missing account', async () => {
    const hash = await hashPassword('right');
    const replace = vi.fn(() => Promise.resolve(true));
    expect(await checkPassword('right', { hash, replace })).toBe(hash);
    expect(await checkPassword('wrong', { hash, replace })).toBeUndefined();
    expect(await checkPassword('right', null)).toBeUndefined();
    expect(replace).not.toHaveBeenCalled();
  });

  it('replaces a hash of another cost, but only for the right password', async () => {
    const hash = await outdated('right');
    const replace = vi.fn((_newer: string) => Promise.resolve(true));
    expect(await checkPassword('wrong', { hash, replace })).toBeUndefined();
    expect(replace).not.toHaveBeenCalled();
    const newer = await checkPassword('right', { hash, replace });
    expect(replace).toHaveBeenCalledExactlyOnceWith(newer);
    expect(newer).not.toBe(hash);
    expect(await verifyPassword('right', newer)).toBe(true);
  });

  it('returns the hash that it compared if the password was changed in the meantime', async () => {
    const hash = await outdated('right');
    expect(await checkPassword('right', { hash, replace: () => Promise.resolve(false) })).toBe(hash);
  });
});
