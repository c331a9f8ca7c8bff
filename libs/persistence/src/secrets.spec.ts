import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSecretBox, SecretBoxError } from './secret-box.js';
import { loadSecretKey, SecretKeyError } from './secret-key.js';

describe('createSecretBox', () => {
  const box = createSecretBox(randomBytes(32));

  it.each(['', 'secret', 'é漢🙂'.repeat(1000)])('opens what it sealed', (text) => {
    expect(box.open(box.seal(text))).toBe(text);
  });

  it('never seals a text the same way twice and shows nothing of it', () => {
    expect(box.seal('password')).not.toBe(box.seal('password'));
    expect(box.seal('password')).not.toContain('password');
  });

  it('refuses a text changed in any byte, cut, or sealed with another key', () => {
    const sealed = box.seal('secret');
    const bytes = Buffer.from(sealed.slice(3), 'base64url');
    for (let index = 0; index < bytes.length; index += 1) {
      const changed = Buffer.from(bytes);
      changed[index] = (changed[index] ?? 0) ^ 1;
      expect(() => box.open(`v1.${changed.toString('base64url')}`)).toThrow(SecretBoxError);
    }
    for (const other of ['', 'v1.', 'v2' + sealed.slice(2), `${sealed}.x`, sealed.slice(0, 20), 'secret']) {
      expect(() => box.open(other)).toThrow(SecretBoxError);
    }
    expect(() => createSecretBox(randomBytes(32)).open(sealed)).toThrow('another GATEHOUSE_SECRET_KEY');
  });

  it('takes a key of 32 bytes and no other', () => {
    expect(() => createSecretBox(randomBytes(16))).toThrow(RangeError);
  });
});

describe('loadSecretKey', () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'gatehouse-key-'));
  });
  afterEach(() => rmSync(home, { recursive: true }));

  it('makes a private file at the first start and finds it again', () => {
    const key = loadSecretKey({ home: join(home, 'new') });
    expect(key).toHaveLength(32);
    expect(loadSecretKey({ home: join(home, 'new'), envValue: '' })).toEqual(key);
    expect(statSync(join(home, 'new', 'secret.key')).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(home, 'new'))).toEqual(['secret.key']);
  });

  it('prefers the environment and leaves no file', () => {
    const key = randomBytes(32);
    expect(loadSecretKey({ home, envValue: key.toString('base64') })).toEqual(key);
    expect(readdirSync(home)).toEqual([]);
  });

  it('refuses a value that is not 32 bytes of base64, and names where it came from', () => {
    for (const envValue of ['short', randomBytes(31).toString('base64'), `${randomBytes(32).toString('base64')}!`]) {
      expect(() => loadSecretKey({ home, envValue })).toThrow(SecretKeyError);
      expect(() => loadSecretKey({ home, envValue })).toThrow('GATEHOUSE_SECRET_KEY');
    }
    writeFileSync(join(home, 'secret.key'), 'garbage', { mode: 0o600 });
    expect(() => loadSecretKey({ home })).toThrow(join(home, 'secret.key'));
    expect(readFileSync(join(home, 'secret.key'), 'utf8')).toBe('garbage');
  });

  it('refuses a file that others can read', () => {
    loadSecretKey({ home });
    chmodSync(join(home, 'secret.key'), 0o644);
    expect(() => loadSecretKey({ home })).toThrow(/chmod 600/);
  });
});
