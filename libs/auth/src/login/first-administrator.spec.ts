import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFirstAdministrator, firstAdministratorPassword } from './first-administrator.js';

describe('firstAdministratorPassword', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'first-admin-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is the given one, and leaves no file', () => {
    expect(firstAdministratorPassword({ home: folder, adminPassword: 'given by hand' })).toBe('given by hand');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is made once and kept for the owner only', () => {
    const home = join(folder, 'new', 'home');
    const password = firstAdministratorPassword({ home });
    expect(password).toMatch(/^[A-Za-z2-9]{20}$/);
    expect(firstAdministratorPassword({ home, adminPassword: '' })).toBe(password);
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

describe('createFirstAdministrator', () => {
  it('creates the account with the password at the first start, and leaves an existing one alone', async () => {
    const given: string[] = [];
    const accounts = {
      isNeeded: () => Promise.resolve(given.length === 0),
      create: (password: string) => Promise.resolve(given.push(password) === 1),
    };
    const settings = { home: '/nowhere', adminPassword: 'given by hand' };
    expect(await createFirstAdministrator(settings, accounts)).toBe(true);
    expect(await createFirstAdministrator({ ...settings, adminPassword: 'another' }, accounts)).toBe(false);
    expect(given).toEqual(['given by hand']);
  });

  it('does not claim an account that a replica has created at the same time', async () => {
    const settings = { home: '/nowhere', adminPassword: 'given by hand' };
    const accounts = { isNeeded: () => Promise.resolve(true), create: () => Promise.resolve(false) };
    expect(await createFirstAdministrator(settings, accounts)).toBe(false);
  });
});
