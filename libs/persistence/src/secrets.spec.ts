import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findSecretKeys, loadSecretKey, loadSecretKeys, SecretKeyError } from './secret-key.js';

describe('loadSecretKey', () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'gatehouse-key-'));
  });
  afterEach(() => rmSync(home, { recursive: true }));

  it('creates a private file at the first start and finds it again', () => {
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

  it('reads several keys, newest first, from the environment or the file', () => {
    const keys = [randomBytes(32), randomBytes(32)] as const;
    const [newest, oldest] = keys.map((key) => key.toString('base64'));
    expect(loadSecretKeys({ home, envValue: `${newest}, ${oldest}` })).toEqual(keys);
    expect(findSecretKeys({ home })).toBeUndefined();
    writeFileSync(join(home, 'secret.key'), `${newest}\n${oldest}\n`, { mode: 0o600 });
    expect(loadSecretKeys({ home })).toEqual(keys);
    expect(loadSecretKey({ home })).toEqual(keys[0]);
    expect(() => loadSecretKeys({ home, envValue: `${newest},short` })).toThrow(
      /GATEHOUSE_SECRET_KEYS must be 32 bytes/,
    );
  });

  it('refuses a value that is not 32 bytes of base64, and names its source', () => {
    for (const envValue of ['short', randomBytes(31).toString('base64'), `${randomBytes(32).toString('base64')}!`]) {
      expect(() => loadSecretKey({ home, envValue })).toThrow(SecretKeyError);
      expect(() => loadSecretKey({ home, envValue })).toThrow('GATEHOUSE_SECRET_KEY');
    }
    writeFileSync(join(home, 'secret.key'), 'garbage', { mode: 0o600 });
    expect(() => loadSecretKey({ home })).toThrow(join(home, 'secret.key'));
    expect(readFileSync(join(home, 'secret.key'), 'utf8')).toBe('garbage');
  });

  it('never suggests a new key if a file is empty or damaged, because stored values would be lost', () => {
    for (const content of ['', '\n', 'c2hvcnQ=']) {
      writeFileSync(join(home, 'secret.key'), content, { mode: 0o600 });
      expect(() => loadSecretKey({ home })).toThrow(/secret\.key .*put the file back from your backup/);
      expect(() => loadSecretKey({ home })).not.toThrow(/openssl/);
    }
  });

  it('refuses a file that others can read', () => {
    loadSecretKey({ home });
    chmodSync(join(home, 'secret.key'), 0o644);
    expect(() => loadSecretKey({ home })).toThrow(/chmod 600/);
  });
});
