import { createDataSource, UnitOfWork } from '@gatehouse/persistence';
import { createTestDatabase, type TestDatabase } from '@gatehouse/testing';
import type { Request, Response } from 'express';
import type { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createAuthTables } from '../tables/auth-tables.js';
import { SessionCookie } from './session-cookie.js';
import { SessionLogins } from './session-logins.js';
import { SessionStore } from './session-store.js';

interface Account {
  readonly id: number;
  readonly passwordHash: string;
}

class AccountLogins extends SessionLogins<Account> {
  constructor(dataSource: DataSource, store: SessionStore, cookie: SessionCookie) {
    super(new UnitOfWork(dataSource), store, cookie, {
      lock: async ({ id, passwordHash }, tx) => {
        const sql = 'SELECT FROM accounts WHERE id = $1 AND password_hash = $2 FOR SHARE';
        return (await tx.query<unknown[]>(sql, [id, passwordHash])).length > 0;
      },
      record: async (account, { id }, { ip }, tx) => {
        await tx.query('INSERT INTO opened VALUES ($1, $2, $3)', [account.id, id, ip]);
      },
    });
  }
}

const ADA = { id: 1, passwordHash: 'hash' };
let database: TestDatabase;
let dataSource: DataSource;
let store: SessionStore;
let logins: AccountLogins;
const cookie = new SessionCookie('notes', true);

beforeAll(async () => {
  database = await createTestDatabase();
  const config = { url: database.url, schema: 'public', entities: [], migrations: [], applicationName: 'test' };
  dataSource = await createDataSource(config).initialize();
  await createAuthTables(dataSource, { sessions: true });
  await dataSource.query(`CREATE TABLE accounts (id int PRIMARY KEY, password_hash text);
    CREATE TABLE opened (account_id int, session_id bigint, ip text); INSERT INTO accounts VALUES (1, 'hash')`);
});

beforeEach(async () => {
  await dataSource.query('TRUNCATE sessions, opened');
  store = new SessionStore(dataSource, { channel: 'test:sessions' });
  logins = new AccountLogins(dataSource, store, cookie);
});

afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

/** As much of a request and its response as logins use. */
function fakeExchange(token?: string): { request: Request; response: Response; cookies: string[] } {
  const cookies: string[] = [];
  const headers = token === undefined ? {} : { cookie: `${cookie.name}=${token}` };
  const response = { setHeader: (name: string, value: string) => void cookies.push(`${name}: ${value}`) };
  return {
    request: { headers, ip: '192.0.2.1' } as Request,
    response: response as unknown as Response,
    cookies,
  };
}

it('opens a session with its cookie, instead of the one that the browser had', async () => {
  const former = await store.create(1);
  const { request, response, cookies } = fakeExchange(former.token);
  const opened = await logins.open(ADA, request, response);
  const token = opened?.token ?? '';
  expect(await store.verify(token)).toMatchObject({ userId: 1 });
  expect(await store.verify(former.token)).toBeUndefined();
  expect(cookies).toEqual([`Set-Cookie: ${cookie.open(token, store.absoluteSeconds)}`]);
  const recorded = [{ account_id: 1, session_id: opened?.session.id, ip: '192.0.2.1' }];
  expect(await dataSource.query('SELECT * FROM opened')).toEqual(recorded);
});

it('sets no cookie for programs that did not ask for one', async () => {
  const { request, response, cookies } = fakeExchange();
  expect(await logins.open(ADA, request, response, { cookie: false })).toBeDefined();
  expect(cookies).toEqual([]);
});

it('opens nothing for a password that was changed since the check, and ends nothing', async () => {
  const present = await store.create(1);
  const { request, response, cookies } = fakeExchange(present.token);
  expect(await logins.open({ id: 1, passwordHash: 'former' }, request, response)).toBeUndefined();
  expect(cookies).toEqual([]);
  expect(await store.verify(present.token)).toBeDefined();
  expect(await dataSource.query('SELECT count(*)::int AS sessions FROM sessions')).toEqual([{ sessions: 1 }]);
});

it('ends the session of the cookie, or one by its id, and has the browser forget the cookie', async () => {
  const [named, other] = [await store.create(1), await store.create(1)];
  const first = fakeExchange(named.token);
  await logins.close(first.request, first.response);
  expect(await store.verify(named.token)).toBeUndefined();
  expect(await store.verify(other.token)).toBeDefined();
  const second = fakeExchange();
  await logins.closeById(other.session.id, second.response);
  expect(await store.verify(other.token)).toBeUndefined();
  expect([first.cookies, second.cookies]).toEqual(Array(2).fill([`Set-Cookie: ${cookie.close()}`]));
});
