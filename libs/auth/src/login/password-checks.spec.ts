import { argon2Sync, randomBytes } from 'node:crypto';
import { createDataSource } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { createTestDatabase, type TestDatabase } from '@gatehouse/testing';
import type { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { hashPassword } from '../passwords/password-hash.js';
import { createAuthTables } from '../tables/auth-tables.js';
import { LoginThrottle } from './login-throttle.js';
import { PasswordChecks, type GivenPassword, type LoginAccount } from './password-checks.js';

interface Account extends LoginAccount {
  readonly name: string;
}

interface Given extends GivenPassword {
  readonly code?: string;
}

/** Bob needs the code 'second', too. */
class AccountPasswords extends PasswordChecks<Account, Given> {
  constructor(dataSource: DataSource) {
    super(dataSource, new LoginThrottle(dataSource), {
      table: 'accounts',
      findByName: (name) => find('name = $1', name),
      findById: (id) => find('id = $1', id),
      nameOf: ({ name }) => name,
      acceptsAlso: ({ name }, { code }) => Promise.resolve(name !== 'bob' || code === 'second'),
      refusal: () => new AppError('FORBIDDEN', 'The current password is wrong'),
    });
  }
}

const RIGHT = 'correct horse battery';
const [ADA, BOB] = [1, 2];
let database: TestDatabase;
let dataSource: DataSource;
let passwords: AccountPasswords;
let addresses = 0;
let address: string;

async function find(condition: string, value: unknown): Promise<Account | null> {
  const [account] = await dataSource.query<Account[]>(
    `SELECT id, name, password_hash AS "passwordHash" FROM accounts WHERE enabled AND ${condition}`,
    [value],
  );
  return account ?? null;
}

/** Made with other parameters than today's. */
function formerHash(password: string): string {
  const nonce = randomBytes(16);
  const options = { message: password, nonce, memory: 128, passes: 1, parallelism: 1, tagLength: 32 };
  const encode = (bytes: Buffer): string => bytes.toString('base64').replace(/=+$/, '');
  return `$argon2id$v=19$m=128,t=1,p=1$${encode(nonce)}$${encode(argon2Sync('argon2id', options))}`;
}

beforeAll(async () => {
  database = await createTestDatabase();
  const config = { url: database.url, schema: 'public', entities: [], migrations: [], applicationName: 'test' };
  dataSource = await createDataSource(config).initialize();
  await createAuthTables(dataSource);
  await dataSource.query(`CREATE TABLE accounts (id int PRIMARY KEY, name text, password_hash text, updated_at timestamptz,
    enabled boolean)`);
});

beforeEach(async () => {
  await dataSource.query('DELETE FROM accounts');
  await dataSource.query(`INSERT INTO accounts VALUES ($1, 'ada', $3, NULL, true), ($2, 'bob', $3, NULL, true)`, [
    ADA,
    BOB,
    await hashPassword(RIGHT),
  ]);
  passwords = new AccountPasswords(dataSource);
  address = `192.0.2.${++addresses}`;
});

afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

describe('a login', () => {
  it('gets its account for the right password only', async () => {
    expect(await passwords.login('ada', { password: RIGHT }, address)).toMatchObject({ id: ADA, name: 'ada' });
    expect(await passwords.login('ada', { password: 'wrong' }, address)).toBeUndefined();
    expect(await passwords.login('nobody', { password: RIGHT }, address)).toBeUndefined();
    await dataSource.query('UPDATE accounts SET enabled = false');
    expect(await passwords.login('ada', { password: RIGHT }, address)).toBeUndefined();
  });

  it('needs what the service wants beside the password', async () => {
    expect(await passwords.login('bob', { password: RIGHT }, address)).toBeUndefined();
    expect(await passwords.login('bob', { password: 'wrong', code: 'second' }, address)).toBeUndefined();
    expect(await passwords.login('bob', { password: RIGHT, code: 'second' }, address)).toMatchObject({ id: BOB });
  });
});

describe('the current password', () => {
  it('is confirmed with the account, or refused as the service says', async () => {
    expect(await passwords.confirm(ADA, { password: RIGHT }, address)).toMatchObject({ id: ADA });
    const refused = { code: 'FORBIDDEN', message: 'The current password is wrong' };
    await expect(passwords.confirm(ADA, { password: 'wrong' }, address)).rejects.toMatchObject(refused);
    await expect(passwords.confirm(BOB, { password: RIGHT }, address)).rejects.toMatchObject(refused);
    await expect(passwords.confirm(3, { password: RIGHT }, address)).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });

  it('shares the limits of logins', async () => {
    for (let count = 0; count < 5; count++) await passwords.confirm(ADA, { password: 'wrong' }, address).catch(() => 0);
    const limited = { code: 'RATE_LIMITED' };
    await expect(passwords.confirm(ADA, { password: RIGHT }, address)).rejects.toMatchObject(limited);
    await expect(passwords.login('Ada', { password: RIGHT }, address)).rejects.toMatchObject(limited);
    expect(await passwords.confirm(BOB, { password: RIGHT, code: 'second' }, address)).toMatchObject({ id: BOB });
  });
});

describe('a stored hash', () => {
  it('with former parameters is replaced once the password is right, and the account has the new one', async () => {
    const former = formerHash(RIGHT);
    await dataSource.query('UPDATE accounts SET password_hash = $1', [former]);
    await passwords.login('ada', { password: 'wrong' }, address);
    expect((await find('id = $1', ADA))?.passwordHash).toBe(former);
    const account = await passwords.confirm(ADA, { password: RIGHT }, address);
    expect(account.passwordHash).not.toBe(former);
    expect(await find('id = $1', ADA)).toEqual(account);
  });

  it('is replaced only while it is the one that was read', async () => {
    const read = await passwords.confirm(ADA, { password: RIGHT }, address);
    expect(await passwords.replaceHash(read, 'first')).toBe(true);
    expect(await passwords.replaceHash(read, 'second')).toBe(false);
    expect((await find('id = $1', ADA))?.passwordHash).toBe('first');
  });
});
