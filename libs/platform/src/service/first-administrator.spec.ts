import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { firstAdministratorPassword } from './first-administrator.js';

describe('firstAdministratorPassword', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'first-admin-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is the given one, and leaves no file', () => {
    expect(firstAdministratorPassword({ home: folder, envValue: 'given by hand' })).toBe('given by hand');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is made once and kept for the owner only', () => {
    const home = join(folder, 'new', 'home');
    const password = firstAdministratorPassword({ home });
    expect(password).toMatch(/^[A-Za-z2-9]{20}$/);
    expect(firstAdministratorPassword({ home, envValue: '' })).toBe(password);
    expect(readdirSync(home)).toEqual(['first-login.txt']);
    expect(readFileSync(join(home, 'first-login.txt'), 'utf8')).toBe(`${password}\n`);
    expect(statSync(join(home, 'first-login.txt')).mode & 0o777).toBe(0o600);
  });

  it('is made again when the file is empty', () => {
    writeFileSync(join(folder, 'first-login.txt'), '');
    const password = firstAdministratorPassword({ home: folder });
    expect(password).toMatch(/^[A-Za-z2-9]{20}$/);
    expect(firstAdministratorPassword({ home: folder })).toBe(password);
  });
});
