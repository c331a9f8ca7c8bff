import { createCipheriv, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createSecretBox, openFromRow, sealForRow, SecretBoxError, type SealedRow } from './secret-box.js';

describe('createSecretBox', () => {
  const box = createSecretBox(randomBytes(32));

  it.each(['', 'secret', 'é漢🙂'.repeat(1000)])('opens what it sealed', (text) => {
    expect(box.open(box.seal(text))).toBe(text);
  });

  it('never seals a text the same way twice, and hides it', () => {
    expect(box.seal('password')).not.toBe(box.seal('password'));
    expect(box.seal('password')).not.toContain('password');
  });

  it('refuses a text changed in any byte, cut, or sealed with another key', () => {
    const sealed = box.seal('secret');
    const [version = '', id = '', body = ''] = sealed.split('.');
    const bytes = Buffer.from(body, 'base64url');
    for (let index = 0; index < bytes.length; index += 1) {
      const changed = Buffer.from(bytes);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(() => box.open(`${version}.${id}.${changed.toString('base64url')}`)).toThrow(SecretBoxError);
    }
    for (const other of [
      '',
      'v1.',
      'v3' + sealed.slice(2),
      `${sealed}.x`,
      `v1.${body}`,
      sealed.slice(0, 20),
      'secret',
    ]) {
      expect(() => box.open(other)).toThrow(SecretBoxError);
    }
    expect(() => createSecretBox(randomBytes(32)).open(sealed)).toThrow('another GATEHOUSE_SECRET_KEY');
  });

  it('accepts only keys of 32 bytes', () => {
    expect(() => createSecretBox(randomBytes(16))).toThrow(RangeError);
  });

  it('opens what older keys sealed, and seals with the newest', () => {
    const [older, newer] = [randomBytes(32), randomBytes(32)];
    const sealed = createSecretBox(older).seal('secret', 'here');
    const both = createSecretBox([newer, older]);
    expect(both.open(sealed, 'here')).toBe('secret');
    expect(sealed.startsWith(both.newest)).toBe(false);
    expect(both.seal('secret').startsWith(both.newest)).toBe(true);
    expect(createSecretBox(newer).open(both.seal('secret'))).toBe('secret');
    expect(() => createSecretBox(older).open(both.seal('secret'))).toThrow(SecretBoxError);
    expect(() => createSecretBox([])).toThrow(RangeError);
  });

  it('opens a text of a row only there, and one of an earlier version in its whole table', () => {
    const [mine, other] = [1, 2].map((id) => ({ table: 'notes', id })) as [SealedRow, SealedRow];
    const sealed = sealForRow(box, mine, 'secret');
    expect(openFromRow(box, mine, sealed)).toBe('secret');
    expect(() => openFromRow(box, other, sealed)).toThrow(SecretBoxError);
    expect(openFromRow(box, other, box.seal('of before', 'notes'))).toBe('of before');
    expect(() => openFromRow(box, mine, box.seal('x', 'others'))).toThrow(SecretBoxError);
  });

  it('opens a text in its place and nowhere else', () => {
    const sealed = box.seal('secret', 'user_totp:7');
    expect(box.open(sealed, 'user_totp:7')).toBe('secret');
    for (const place of [undefined, '', 'user_totp:8']) expect(() => box.open(sealed, place)).toThrow(SecretBoxError);
  });

  it('opens texts of the previous version', () => {
    const key = Buffer.from('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f', 'hex');
    const cipher = createCipheriv('aes-256-gcm', key, Buffer.alloc(12, 1));
    cipher.setAAD(Buffer.from('v1'));
    const body = Buffer.concat([cipher.update('secret'), cipher.final()]);
    const sealed = `v1.${Buffer.concat([Buffer.alloc(12, 1), cipher.getAuthTag(), body]).toString('base64url')}`;
    expect(createSecretBox([randomBytes(32), key]).open(sealed, 'anywhere')).toBe('secret');
    expect(() => createSecretBox(randomBytes(32)).open(sealed)).toThrow(SecretBoxError);
    expect(() => createSecretBox(key, 'c1').open(sealed)).toThrow(SecretBoxError);
  });
});
