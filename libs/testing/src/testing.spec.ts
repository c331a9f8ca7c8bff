import { once } from 'node:events';
import { connect } from 'node:net';
import { JsonLogger, ServiceSettings } from '@gatehouse/platform';
import { withClient } from '@gatehouse/persistence';
import { Module, type MiddlewareConsumer, type NestModule } from '@nestjs/common';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import {
  createTestApp,
  createTestDatabase,
  findPeer,
  peerOrSkip,
  startHttpOrigin,
  startTcpEcho,
  waitFor,
  type TestApp,
} from './index.js';

describe('createTestDatabase', () => {
  it('gives every caller a separate database and drops it with its sessions', async () => {
    const [one, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    expect(one.name).not.toBe(other.name);
    await withClient(one.url, (client) => client.query('CREATE TABLE mine (id int)'));
    const seen = await withClient(other.url, (client) => client.query(`SELECT to_regclass('mine') AS mine`));
    expect(seen.rows).toEqual([{ mine: null }]);
    await Promise.all([one.drop(), other.drop()]);
    const left = await withClient(inject('postgresUrl'), (client) =>
      client.query('SELECT 1 FROM pg_database WHERE datname = ANY($1)', [[one.name, other.name]]),
    );
    expect(left.rowCount).toBe(0);
  });

  it('prepares a template once, even for two concurrent callers, and copies it', async () => {
    const prepare = vi.fn((url: string) =>
      withClient(url, (client) => client.query('CREATE TABLE seeded AS SELECT 42 AS answer')).then(() => undefined),
    );
    const template = { key: 'testing_spec', prepare };
    const databases = await Promise.all([1, 2, 3].map(() => createTestDatabase({ template })));
    expect(prepare).toHaveBeenCalledTimes(1);
    for (const database of databases) {
      const { rows } = await withClient(database.url, (client) => client.query('SELECT answer FROM seeded'));
      expect(rows).toEqual([{ answer: 42 }]);
      await database.drop();
    }
  });

  it('prepares a template again after a failed attempt', async () => {
    const broken = { key: 'testing_spec_broken', prepare: () => Promise.reject(new Error('no seed')) };
    await expect(createTestDatabase({ template: broken })).rejects.toThrow('no seed');
    const database = await createTestDatabase({ template: { ...broken, prepare: () => Promise.resolve() } });
    await database.drop();
  });
});

describe('waitFor', () => {
  it('returns what the condition found', async () => {
    let looks = 0;
    expect(await waitFor(() => ((looks += 1) > 2 ? 'there' : undefined))).toBe('there');
    expect(looks).toBe(3);
  });

  it('fails with the last reason when the time is over', async () => {
    const never = waitFor(() => Promise.reject(new Error('still closed')), { timeoutMs: 30 });
    await expect(never).rejects.toMatchObject({ cause: new Error('still closed') });
    await expect(waitFor(() => false, { timeoutMs: 10 })).rejects.toThrow('did not hold within 10 ms');
  });

  it('looks less often the longer it has waited', async () => {
    let looks = 0;
    const look = (): boolean => {
      looks += 1;
      return false;
    };
    await expect(waitFor(look, { timeoutMs: 500 })).rejects.toThrow('did not hold');
    // 50 if each pause were as short as the first; a busy machine has fewer.
    expect(looks).toBeLessThan(25);
  });
});

describe('servers', () => {
  it('echoes bytes, half-closes, and ends open connections when it closes', async () => {
    const echo = await startTcpEcho();
    const socket = connect({ port: echo.port, host: echo.host });
    const parts: Buffer[] = [];
    socket.on('data', (part: Buffer) => parts.push(part));
    socket.end('hello');
    await once(socket, 'end');
    expect(Buffer.concat(parts).toString()).toBe('hello');
    const left = connect({ port: echo.port, host: echo.host });
    left.on('error', () => undefined);
    await waitFor(() => echo.open() === 1);
    const gone = once(left, 'close');
    await echo.close();
    await gone;
    expect(echo.accepted()).toBe(2);
  });

  it('streams bytes, records requests and answers with a status', async () => {
    await using origin = await startHttpOrigin();
    const count = 3_000_001;
    const body = await (await fetch(`${origin.url}/bytes/${count}`)).arrayBuffer();
    expect(body.byteLength).toBe(count);
    const echoed = await fetch(`${origin.url}/echo?q=1`, { method: 'POST', body: 'ping', headers: { 'x-probe': 'a' } });
    expect(await echoed.text()).toBe('ping');
    expect((await fetch(`${origin.url}/status/418`)).status).toBe(418);
    expect(origin.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      `GET /bytes/${count}`,
      'POST /echo?q=1',
      'GET /status/418',
    ]);
    expect(origin.requests[1]).toMatchObject({ body: Buffer.from('ping'), headers: { 'x-probe': 'a' } });
  });
});

describe('peers', () => {
  const { CI, GATEHOUSE_PEERS_BIN } = process.env;
  beforeEach(() => {
    delete process.env['CI'];
  });
  afterEach(() => {
    for (const [name, value] of Object.entries({ CI, GATEHOUSE_PEERS_BIN })) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  });

  it('are found in GATEHOUSE_PEERS_BIN and in PATH, and one that is missing may be skipped', () => {
    expect(findPeer('sh')).toMatch(/\/sh$/);
    process.env['GATEHOUSE_PEERS_BIN'] = '/bin';
    expect(findPeer('sh')).toBe('/bin/sh');
    expect(peerOrSkip('no-such-peer')).toBeUndefined();
  });

  it('fail loudly in CI when they are missing', () => {
    process.env['CI'] = 'true';
    expect(() => peerOrSkip('no-such-peer')).toThrow('no-such-peer not found: npm run peers');
  });
});

describe('createTestApp', () => {
  class HelloModule implements NestModule {
    configure(consumer: MiddlewareConsumer): void {
      consumer
        .apply((_request: unknown, response: { end: (text: string) => void }) => response.end('hello'))
        .forRoutes('hello');
    }
  }
  Module({})(HelloModule);

  async function startHello(logger?: JsonLogger): Promise<TestApp> {
    const settings = Object.assign(new ServiceSettings(), { databaseUrl: inject('postgresUrl') });
    return createTestApp({
      name: 'spec',
      module: HelloModule,
      settings,
      http: { errorFormat: 'problem' },
      ...(logger && { logger }),
    });
  }

  it('serves a module on a free port with the platform around it', async () => {
    await using service = await startHello();
    expect(await (await fetch(`${service.url}/hello`)).text()).toBe('hello');
    expect((await fetch(`${service.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${service.url}/nowhere`)).headers.get('content-type')).toContain('application/problem+json');
    expect(service.logs.length).toBeGreaterThan(0);
  });

  it('fails on close after a statement that PostgreSQL cannot parse', async () => {
    const logger = new JsonLogger({ service: 'spec', level: 'info', write: () => undefined });
    const service = await startHello(logger);
    const failure = await withClient(inject('postgresUrl'), (client) => client.query('SELEC 1')).catch(
      (error: unknown) => error,
    );
    logger.warn('the sweep failed', { error: failure }, 'Sweep');
    await expect(service.close()).rejects.toThrow('Sweep: the sweep failed: syntax error at or near "SELEC"');
  });
});
