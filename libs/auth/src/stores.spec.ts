import { randomBytes } from 'node:crypto';
import { createDataSource, createSecretBox, PgListener } from '@gatehouse/persistence';
import { JsonLogger } from '@gatehouse/platform';
import { createTestDatabase, waitFor, type TestDatabase } from '@gatehouse/testing';
import jwt from 'jsonwebtoken';
import type { DataSource } from 'typeorm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createApiKey } from './keys/api-key.js';
import { ApiKeyStore } from './keys/api-key-store.js';
import { LastUseWriter } from './keys/last-use-writer.js';
import { DEFAULT_LOGIN_LIMITS, LoginThrottle } from './login/login-throttle.js';
import { hashPassword, verifyPassword } from './passwords/password-hash.js';
import { SessionStore } from './sessions/session-store.js';
import { createAuthTables, dropAuthTables } from './tables/auth-tables.js';
import { TokenSigner } from './tokens/token-signer.js';

let database: TestDatabase;
let dataSource: DataSource;
let listeners: PgListener[] = [];
const logger = new JsonLogger({ service: 'test', level: 'silent' });
const secretKey = randomBytes(32);

/** A replica's own listener. */
function listener(): PgListener {
  const made = new PgListener({ url: database.url, applicationName: 'test' });
  listeners.push(made);
  return made;
}

beforeAll(async () => {
  database = await createTestDatabase();
  dataSource = createDataSource({
    url: database.url,
    schema: 'public',
    entities: [],
    migrations: [],
    applicationName: 'test',
  });
  await dataSource.initialize();
});

beforeEach(async () => {
  await createAuthTables(dataSource, { sessions: true });
  return async () => {
    await Promise.all(listeners.map((one) => one.close()));
    listeners = [];
    await dropAuthTables(dataSource, { sessions: true });
  };
});

afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

describe('ApiKeyStore', () => {
  const config = { prefix: 'gpk_', channel: 'test:api_keys' };
  const store = (): ApiKeyStore => new ApiKeyStore(dataSource, config, logger);

  it('revokes all keys of a user', async () => {
    const keys = store();
    const made = await Promise.all([5, 5, 6].map((userId) => keys.create({ name: 'ci', scopes: ['read'], userId })));
    for (const { key } of made) expect(await keys.verify(key, null)).toBeDefined();
    await dataSource.transaction((tx) => keys.revokeAllOf(5, tx));
    const left = await Promise.all(made.map(({ key }) => keys.verify(key, null)));
    expect(left.map((identity) => identity?.userId)).toEqual([undefined, undefined, 6]);
    await keys.stop();
  });

  it('shows a key once and stores only its hash', async () => {
    const { key, record } = await store().create({ name: 'ci', scopes: ['read'] });
    const rows = JSON.stringify(await dataSource.query('SELECT * FROM api_keys'));
    expect(rows).not.toContain(key.slice(4, 30));
    expect(record).toMatchObject({ name: 'ci', keyPrefix: 'gpk_', lastFour: key.slice(-4), revokedAt: null });
    expect(await store().verify(key, null)).toMatchObject({ id: record.id, name: 'ci', scopes: ['read'] });
  });

  it('knows neither keys of other services nor expired ones', async () => {
    const keys = store();
    expect(await keys.verify(createApiKey('gpk_'), null)).toBeUndefined();
    const { key } = await keys.create({ name: 'old', scopes: ['read'], expiresAt: new Date(Date.now() - 1) });
    expect(await keys.verify(key, null)).toBeUndefined();
  });

  it('refuses a cached key from the moment it expires', async () => {
    const keys = store();
    const { key } = await keys.create({ name: 'short', scopes: ['read'], expiresAt: new Date(Date.now() + 250) });
    expect(await keys.verify(key, null)).toBeDefined();
    await waitFor(async () => (await keys.verify(key, null)) === undefined);
  });

  it('revokes on every replica at once', async () => {
    const here = store();
    const there = store();
    await there.start(listener());
    const { key, record } = await here.create({ name: 'x', scopes: ['write'] });
    expect(await there.verify(key, null)).toBeDefined();
    await here.revoke(record.id);
    expect(await here.verify(key, null)).toBeUndefined();
    await waitFor(async () => (await there.verify(key, null)) === undefined, { timeoutMs: 1_000 });
    await expect(here.revoke(record.id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await here.list()).toEqual([]);
    await there.stop();
  });

  it("does not let one user see or revoke another's", async () => {
    const keys = store();
    const { record } = await keys.create({ name: 'mine', scopes: ['read'], userId: 1 });
    expect(await keys.list({ userId: 2 })).toEqual([]);
    await expect(keys.revoke(record.id, { userId: 2 })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    expect(await keys.list({ userId: 1 })).toHaveLength(1);
  });

  it('records uses in batches', async () => {
    const keys = store();
    const { key } = await keys.create({ name: 'x', scopes: ['read'] });
    for (let use = 0; use < 50; use++) await keys.verify(key, '192.0.2.7');
    expect((await keys.list())[0]?.lastUsedAt).toBeNull();
    await keys.flushLastUse();
    expect((await keys.list())[0]).toMatchObject({ lastUsedIp: '192.0.2.7', lastUsedAt: expect.any(Date) as Date });
  });
});

describe('TokenSigner', () => {
  const config = { issuer: 'proxy-gateway', channel: 'test:signing_keys' };
  const signer = (): TokenSigner => new TokenSigner(dataSource, createSecretBox(secretKey), config);
  const subject = { name: 'administrator', scopes: ['admin'] as const };

  it('issues tokens that every replica accepts, also after a restart', async () => {
    const { token, expiresAt } = await signer().issue({ ...subject, userId: 7, role: 'admin' }, 60);
    expect(expiresAt.getTime()).toBeGreaterThan(Date.now() + 50_000);
    expect(await signer().verify(token)).toEqual({
      credential: 'token',
      credentialId: null,
      userId: 7,
      name: 'administrator',
      role: 'admin',
      scopes: ['admin'],
    });
  });

  it('agrees on one key when replicas start together', async () => {
    const replicas = Array.from({ length: 5 }, signer);
    const issued = await Promise.all(replicas.map((one) => one.issue(subject, 60)));
    for (const { token } of issued) expect(await replicas[0]?.verify(token)).toBeDefined();
    expect(await dataSource.query('SELECT count(*)::int AS n FROM signing_keys')).toEqual([{ n: 1 }]);
  });

  it('keeps the key sealed', async () => {
    await signer().issue(subject, 60);
    const [row] = (await dataSource.query('SELECT sealed_key FROM signing_keys')) as { sealed_key: string }[];
    expect(row?.sealed_key).toMatch(/^v2\./);
    const stranger = new TokenSigner(dataSource, createSecretBox(randomBytes(32)), config);
    await expect(stranger.issue(subject, 60)).rejects.toThrow('GATEHOUSE_SECRET_KEY');
  });

  it('refuses tokens that it did not sign', async () => {
    const one = signer();
    const { token } = await one.issue(subject, 60);
    const [head = '', body = '', mark = ''] = token.split('.');
    const forged = Buffer.from(JSON.stringify({ ...(jwt.decode(token) as object), scope: 'admin', sub: 'x' })).toString(
      'base64url',
    );
    const unsigned = Buffer.from(JSON.stringify({ alg: 'none', kid: '1' })).toString('base64url');
    const kid = jwt.decode(token, { complete: true })?.header.kid ?? '';
    const other = jwt.sign({ scope: 'admin' }, 'guess', { keyid: kid, issuer: config.issuer, audience: config.issuer });
    for (const bad of [
      `${head}.${forged}.${mark}`,
      `${unsigned}.${body}.`,
      `${head}.${body}.${mark.slice(0, -2)}`,
      other,
      'a.b.c',
      '..',
    ]) {
      expect(await one.verify(bad)).toBeUndefined();
    }
    expect(await one.verify(token)).toBeDefined();
  });

  it('fails if the keys cannot be read, and does not call the token invalid', async () => {
    const { token } = await signer().issue(subject, 60);
    const closed = createDataSource({
      url: database.url,
      schema: 'public',
      entities: [],
      migrations: [],
      applicationName: 'x',
    });
    const blind = new TokenSigner(closed, createSecretBox(secretKey), config);
    await expect(blind.verify(token)).rejects.toThrow();
  });

  it("refuses another service's tokens and expired ones", async () => {
    const other = new TokenSigner(dataSource, createSecretBox(secretKey), { ...config, issuer: 'tunnel-gateway' });
    expect(await signer().verify((await other.issue(subject, 60)).token)).toBeUndefined();
    const one = signer();
    const { token } = await one.issue(subject, 1);
    expect(await one.verify(token)).toBeDefined();
    await waitFor(async () => (await one.verify(token)) === undefined);
  });

  it('logs out everyone on every replica when the key is rotated', async () => {
    const here = signer();
    const there = signer();
    await there.start(listener());
    const { token } = await here.issue(subject, 60);
    expect(await there.verify(token)).toBeDefined();
    await here.rotate();
    expect(await here.verify(token)).toBeUndefined();
    await waitFor(async () => (await there.verify(token)) === undefined, { timeoutMs: 1_000 });
    const next = await here.issue(subject, 60);
    expect(await there.verify(next.token)).toBeDefined();
    await there.stop();
  });

  it('keeps the old key when the transaction around a rotation fails', async () => {
    const one = signer();
    const { token } = await one.issue(subject, 60);
    const failing = dataSource.transaction(async (tx) => {
      await one.rotate(tx);
      throw new Error('later step failed');
    });
    await expect(failing).rejects.toThrow('later step failed');
    expect(await one.verify(token)).toBeDefined();
  });
});

describe('LoginThrottle', () => {
  const wrong = (): Promise<undefined> => Promise.resolve(undefined);
  const right = (): Promise<string> => Promise.resolve('welcome');

  it('refuses the sixth failure of an address, also after a restart, and no other address', async () => {
    for (let count = 0; count < 5; count++) {
      expect(await new LoginThrottle(dataSource).attempt('192.0.2.1', 'ada', wrong)).toBeUndefined();
    }
    const restarted = new LoginThrottle(dataSource);
    const refused = restarted.attempt('192.0.2.1', 'ada', right);
    await expect(refused).rejects.toMatchObject({ code: 'RATE_LIMITED', status: 429 });
    const { retryAfterSeconds } = (await refused.catch((error: unknown) => error)) as { retryAfterSeconds: number };
    expect(retryAfterSeconds).toBeGreaterThan(890);
    expect(retryAfterSeconds).toBeLessThanOrEqual(900);
    expect(await restarted.attempt('192.0.2.2', 'ada', right)).toBe('welcome');
  });

  it('does not run the check of a refused attempt', async () => {
    const throttle = new LoginThrottle(dataSource);
    for (let count = 0; count < 5; count++) await throttle.attempt('192.0.2.1', 'ada', wrong);
    let checked = false;
    await throttle
      .attempt('192.0.2.1', 'ada', () => {
        checked = true;
        return right();
      })
      .catch(() => undefined);
    expect(checked).toBe(false);
  });

  it('clears the failures of an account after a success', async () => {
    const throttle = new LoginThrottle(dataSource);
    for (let round = 0; round < 3; round++) {
      for (let count = 0; count < 4; count++) await throttle.attempt('192.0.2.1', 'ada', wrong);
      expect(await throttle.attempt('192.0.2.1', 'ada', right)).toBe('welcome');
    }
  });

  it('does not clear failures on other accounts after a success on an own account', async () => {
    const throttle = new LoginThrottle(dataSource);
    for (let count = 0; count < 4; count++) await throttle.attempt('192.0.2.1', 'ada', wrong);
    expect(await throttle.attempt('192.0.2.1', 'mallory', right)).toBe('welcome');
    expect(await throttle.attempt('192.0.2.1', 'Ada', wrong)).toBeUndefined();
    await expect(throttle.attempt('192.0.2.1', 'ada', right)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(await throttle.attempt('192.0.2.1', 'mallory', right)).toBe('welcome');
  });

  it('refuses an address that failed with many accounts', async () => {
    const throttle = new LoginThrottle(dataSource);
    for (let count = 0; count < 20; count++) {
      await throttle.attempt('192.0.2.1', `account ${count}`, wrong);
      if (count < 19) await throttle.attempt('192.0.2.1', 'mallory', right);
    }
    await expect(throttle.attempt('192.0.2.1', 'account 20', right)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(await throttle.attempt('192.0.2.2', 'account 20', right)).toBe('welcome');
  });

  it('stores no names', async () => {
    await new LoginThrottle(dataSource).attempt('192.0.2.1', 'perhaps a password', wrong);
    expect(JSON.stringify(await dataSource.query('SELECT * FROM login_attempts'))).not.toContain('perhaps');
  });

  it('answers five of many concurrent guesses', async () => {
    const replicas = [new LoginThrottle(dataSource), new LoginThrottle(dataSource)];
    const results = await Promise.allSettled(
      Array.from({ length: 40 }, (_, index) => replicas[index % 2]?.attempt('192.0.2.1', 'ada', wrong)),
    );
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(5);
  });

  it('admits many correct concurrent logins of one address', async () => {
    const throttle = new LoginThrottle(dataSource);
    const results = await Promise.all(Array.from({ length: 30 }, () => throttle.attempt('192.0.2.1', 'ada', right)));
    expect(results).toEqual(Array.from({ length: 30 }, () => 'welcome'));
  });

  it('has a separate window for all failures of an address', async () => {
    const limits = { ...DEFAULT_LOGIN_LIMITS, failures: 10, addressFailures: 5, addressFailureWindowSeconds: 1 };
    const throttle = new LoginThrottle(dataSource, limits);
    const guess = (): Promise<string | undefined> => throttle.attempt('192.0.2.1', 'ada', wrong);
    for (let count = 0; count < 5; count++) await guess();
    await expect(guess()).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    await waitFor(async () => (await guess().catch(() => null)) === undefined);
    for (let count = 6; count < 10; count++) await guess();
    await expect(guess()).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    // The account's own window is not over.
    await expect(
      waitFor(async () => (await guess().catch(() => null)) === undefined, { timeoutMs: 600 }),
    ).rejects.toThrow();
    expect(await throttle.attempt('192.0.2.2', 'ada', right)).toBe('welcome');
  });

  it('counts attempts by address, so that nobody uses up those of others', async () => {
    const limits = { ...DEFAULT_LOGIN_LIMITS, attempts: 10 };
    const throttle = new LoginThrottle(dataSource, limits);
    for (let host = 1; host <= 30; host++) {
      for (let count = 0; count < 5; count++) await throttle.attempt(`198.51.100.${host}`, 'ada', wrong);
    }
    for (let count = 0; count < 10; count++) {
      expect(await throttle.attempt('192.0.2.1', `account ${count}`, right)).toBe('welcome');
    }
    const refused = throttle.attempt('192.0.2.1', 'ada', right);
    await expect(refused).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(await throttle.attempt('192.0.2.2', 'ada', right)).toBe('welcome');
  });

  it('counts an IPv6 network as one address', async () => {
    const throttle = new LoginThrottle(dataSource);
    for (let count = 0; count < 5; count++) await throttle.attempt(`2001:db8:1:2::${count}`, 'ada', wrong);
    const refused = throttle.attempt('2001:db8:1:2:ffff::1', 'ada', right);
    await expect(refused).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(await throttle.attempt('2001:db8:1:3::1', 'ada', right)).toBe('welcome');
  });

  it('does not lock out a user who has logged in from an address because of others there', async () => {
    const throttle = new LoginThrottle(dataSource, { ...DEFAULT_LOGIN_LIMITS, attempts: 25 });
    expect(await throttle.attempt('192.0.2.1', 'ada', right)).toBe('welcome');
    for (let count = 0; count < 30; count++) {
      await throttle.attempt('192.0.2.1', `account ${count}`, wrong).catch(() => undefined);
    }
    await expect(throttle.attempt('192.0.2.1', 'bob', right)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    expect(await throttle.attempt('192.0.2.1', 'Ada', right)).toBe('welcome');
    for (let count = 0; count < 5; count++) await throttle.attempt('192.0.2.1', 'ada', wrong);
    await expect(throttle.attempt('192.0.2.1', 'ada', right)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    await dataSource.query("UPDATE login_attempts SET window_started_at = now() - interval '31 days' WHERE count = 0");
    await dataSource.query("DELETE FROM login_attempts WHERE key LIKE '192.0.2.1 %' AND count > 0");
    await expect(throttle.attempt('192.0.2.1', 'ada', right)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  });

  it('keeps notes of good logins longer than counts, and neither forever', async () => {
    const throttle = new LoginThrottle(dataSource);
    const kept = async (): Promise<number> =>
      ((await dataSource.query('SELECT count(*)::int AS n FROM login_attempts')) as { n: number }[])[0]?.n ?? 0;
    const age = (text: string): Promise<unknown> =>
      dataSource.query('UPDATE login_attempts SET window_started_at = now() - $1::interval', [text]);
    await throttle.attempt('192.0.2.1', 'ada', right);
    await age('1 hour');
    await throttle.attempt('192.0.2.2', 'bob', wrong);
    const fresh = 3;
    expect(await kept()).toBe(fresh + 1);
    await age('31 days');
    await new LoginThrottle(dataSource).attempt('192.0.2.2', 'bob', wrong);
    expect(await kept()).toBe(fresh);
  });

  it('hashes no guess after the limit was reached in the meantime', async () => {
    const throttle = new LoginThrottle(dataSource);
    const stored = await hashPassword('the right one');
    let hashed = 0;
    const guess = async (): Promise<undefined> => {
      await verifyPassword('a guess', stored);
      hashed += 1;
      return undefined;
    };
    await Promise.allSettled(Array.from({ length: 60 }, () => throttle.attempt('192.0.2.1', 'ada', guess)));
    expect(hashed).toBeGreaterThanOrEqual(5);
    expect(hashed).toBeLessThan(10);
  });

  it('admits logins of other addresses during a storm', async () => {
    const throttle = new LoginThrottle(dataSource);
    const stored = await hashPassword('the right one');
    const check = (password: string) => async (): Promise<string | undefined> =>
      (await verifyPassword(password, stored)) ? 'welcome' : undefined;
    let answered = 0;
    const guess = async (count: number): Promise<void> => {
      await throttle.attempt(`203.0.113.${count % 10}`, `account ${count}`, check('a guess')).catch(() => undefined);
      answered += 1;
    };
    const storm = Array.from({ length: 60 }, (_, count) => guess(count));
    const own = (): Promise<string | undefined> => throttle.attempt('192.0.2.1', 'ada', check('the right one'));
    expect(await own()).toBe('welcome');
    expect(answered).toBeLessThan(30);
    const before = answered;
    expect(await own()).toBe('welcome');
    // Known by now: every third turn at least is theirs.
    expect(answered - before).toBeLessThan(10);
    await Promise.all(storm);
  });

  it('asks the database for a few at a time, and refuses the excess without it', async () => {
    let [underway, most] = [0, 0];
    const watched = {
      query: async (sql: string, parameters?: unknown[]): Promise<unknown> => {
        most = Math.max(most, ++underway);
        return dataSource.query(sql, parameters).finally(() => (underway -= 1));
      },
    } as unknown as DataSource;
    const throttle = new LoginThrottle(watched);
    // Nobody gets beyond the counting before all have asked.
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    const check = async (): Promise<string> => {
      await gate;
      return 'welcome';
    };
    const storm = Array.from({ length: 1_000 }, (_, count) =>
      throttle.attempt(`10.0.${count >> 8}.${count & 255}`, 'ada', check),
    );
    const settled = Promise.allSettled(storm);
    await expect(storm[999]).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(most).toBeLessThanOrEqual(4);
    open();
    const outcomes = await settled;
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused).toHaveLength(596);
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it('starts again when the window is over', async () => {
    const limits = {
      failures: 1,
      addressFailures: 20,
      failureWindowSeconds: 0.2,
      attempts: 100,
      attemptWindowSeconds: 60,
    };
    const throttle = new LoginThrottle(dataSource, limits);
    await throttle.attempt('192.0.2.1', 'ada', wrong);
    await expect(throttle.attempt('192.0.2.1', 'ada', right)).rejects.toMatchObject({ code: 'RATE_LIMITED' });
    await waitFor(() => throttle.attempt('192.0.2.1', 'ada', right));
  });
});

describe('SessionStore', () => {
  const config = { channel: 'test:sessions' };

  it('opens, recognises and ends sessions, storing only a hash', async () => {
    const store = new SessionStore(dataSource, config);
    const { token, session } = await store.create(5);
    expect(JSON.stringify(await dataSource.query('SELECT * FROM sessions'))).not.toContain(token);
    expect(await store.verify(token)).toMatchObject({ id: session.id, userId: 5 });
    await store.end(token);
    expect(await store.verify(token)).toBeUndefined();
    expect(await store.verify('nonsense')).toBeUndefined();
  });

  it('ends them on other replicas too', async () => {
    const here = new SessionStore(dataSource, config);
    const there = new SessionStore(dataSource, config);
    await there.start(listener());
    const first = await here.create(5);
    const second = await here.create(5);
    const third = await here.create(6);
    for (const { token } of [first, second, third]) expect(await there.verify(token)).toBeDefined();
    await here.end(first.token);
    await waitFor(async () => (await there.verify(first.token)) === undefined, { timeoutMs: 1_000 });
    await here.endAllOf(5);
    await waitFor(async () => (await there.verify(second.token)) === undefined, { timeoutMs: 1_000 });
    expect(await there.verify(third.token)).toBeDefined();
    await there.stop();
  });

  it('ends all sessions of a user except the one to keep, and records their use', async () => {
    await dataSource.query('CREATE TABLE details (session_id bigint, last_used_at timestamptz, last_used_ip text)');
    const lastUse = new LastUseWriter(dataSource, logger, { table: 'details', id: 'session_id' });
    const store = new SessionStore(dataSource, { ...config, lastUse });
    const [kept, other, others] = [await store.create(5), await store.create(5), await store.create(6)];
    await dataSource.query('INSERT INTO details (session_id) VALUES ($1)', [kept.session.id]);
    expect(await store.verify(other.token)).toBeDefined();
    expect(await dataSource.transaction((tx) => store.endOthersOf(5, kept.session.id, tx))).toBe(1);
    expect(await store.verify(other.token)).toBeUndefined();
    expect(await store.verify(others.token)).toBeDefined();
    expect(await store.verify(kept.token, '192.0.2.1')).toBeDefined();
    await store.stop();
    expect(await dataSource.query('SELECT last_used_ip FROM details')).toEqual([{ last_used_ip: '192.0.2.1' }]);
    await dataSource.query('DROP TABLE details');
  });

  it('ends idle sessions, and all at the absolute limit', async () => {
    const idle = new SessionStore(dataSource, { ...config, idleSeconds: 0.2 });
    const { token } = await idle.create(5);
    expect(await idle.verify(token)).toBeDefined();
    await waitFor(async () => (await idle.verify(token)) === undefined);
    const brief = new SessionStore(dataSource, { ...config, absoluteSeconds: 0.2 });
    const other = await brief.create(5);
    await waitFor(async () => (await brief.verify(other.token)) === undefined);
  });

  it('extends a session that is used', async () => {
    const store = new SessionStore(dataSource, config);
    const { token } = await store.create(5);
    await dataSource.query("UPDATE sessions SET expires_at = now() + interval '1 minute'");
    const session = await new SessionStore(dataSource, config).verify(token);
    expect(session?.expiresAt.getTime()).toBeGreaterThan(Date.now() + 7_000_000);
  });
});
