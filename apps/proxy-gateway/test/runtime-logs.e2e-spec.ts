import type { RuntimeLogPage, RuntimeLogView } from '@gatehouse/contracts';
import { Logger } from '@nestjs/common';
import { waitFor } from '@gatehouse/testing';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RuntimeLogRetention } from '../src/runtime-logs/runtime-log-retention.js';
import { RuntimeLogWriter } from '../src/runtime-logs/runtime-log-writer.js';
import { startGateway } from './support/gateway.js';
import type { Gateway } from './support/gateway.js';

let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(async () => gateway[Symbol.asyncDispose]());

async function list(query = ''): Promise<RuntimeLogPage> {
  const { status, body } = await gateway.call<RuntimeLogPage>('GET', `/logs?${query}`);
  expect(status).toBe(200);
  return body;
}
const found = async (search: string): Promise<RuntimeLogView[]> =>
  (await list(`search=${encodeURIComponent(search)}`)).items;

describe('GET /logs', () => {
  it('shows the latest lines of the service, redacted and without stack traces', async () => {
    const link = 'vless://SECRET-UUID@a.example:443?x=1#n';
    new Logger('Tester').warn(`line one ${link}`, { password: 'SECRET-PW', node: 7, nul: 'a\0b', half: '\ud800' });
    new Logger('Tester').error('line two', new Error('went wrong'));
    const [one] = await found('line one');
    expect(one).toMatchObject({
      level: 'warning',
      source: 'api',
      context: 'Tester',
      time: expect.stringMatching(/Z$/),
      fields: { password: '***', node: 7, nul: 'ab' },
      request_id: null,
    });
    expect(JSON.stringify(one)).not.toContain('SECRET');
    const [two] = await found('line two');
    expect(two).toMatchObject({ level: 'error', fields: { error: { message: 'went wrong' } } });
    expect(JSON.stringify(two)).not.toContain('    at ');
  });

  it('includes lines of the kernel', async () => {
    const kernel = await waitFor(async () => (await list('source=kernel')).items[0]);
    expect(kernel).toMatchObject({ source: 'kernel' });
    expect((await list('source=worker')).items).toEqual([]);
  });

  it('filters by level', async () => {
    for (const level of ['debug', 'log', 'warn', 'error'] as const) new Logger('Levels')[level](`a line of ${level}`);
    const levels = async (level: string): Promise<string[]> =>
      (await list(`level=${level}&search=a%20line%20of`)).items.map((item) => item.level);
    expect(await levels('debug')).toEqual(['error', 'warning', 'info', 'debug']);
    expect(await levels('info')).toEqual(['error', 'warning', 'info']);
    expect(await levels('warning')).toEqual(['error', 'warning']);
    expect(await levels('error')).toEqual(['error']);
    expect(await list('level=silent')).toMatchObject({ items: [], total: 0 });
  });

  it('finds the lines of one request, and treats % and _ literally', async () => {
    const failed = await gateway.call('POST', '/rules', { nonsense: 1 });
    const { items } = await list(`request_id=${failed.body.request_id}`);
    expect(items.length).toBeGreaterThan(0);
    expect(items.every(({ request_id }) => request_id === failed.body.request_id)).toBe(true);
    expect(await found('no%such_line')).toEqual([]);
    new Logger('Tester').log('100%_sure');
    expect(await found('100%_s')).toHaveLength(1);
  });

  it('pages by cursor and offset', async () => {
    for (let index = 0; index < 6; index++) new Logger('Pages').log(`page line ${index}`);
    const first = await list('search=page%20line&limit=2');
    expect(first).toMatchObject({ total: 6, limit: 2, offset: 0 });
    expect(first.items.map(({ message }) => message)).toEqual(['page line 5', 'page line 4']);
    const second = await list(`search=page%20line&limit=2&cursor=${first.next_cursor}`);
    expect(second.items.map(({ message }) => message)).toEqual(['page line 3', 'page line 2']);
    const last = await list('search=page%20line&limit=2&offset=4');
    expect([last.items.map(({ message }) => message), last.next_cursor]).toEqual([
      ['page line 1', 'page line 0'],
      null,
    ]);
  });

  it.each([
    'level=loud',
    'level=',
    'limit=0',
    'limit=501',
    'limit=1e2',
    'source=me',
    'cursor=x',
    'search=%00',
    'other=1',
  ])('refuses %s', async (query) => expect((await gateway.call('GET', `/logs?${query}`)).status).toBe(400));

  it('needs credentials', async () => {
    expect((await gateway.call('GET', '/logs', undefined, { authorization: '' })).status).toBe(401);
  });
});

describe('GET /logs/stream', () => {
  async function follow(query: string, headers: Record<string, string> = {}) {
    const login = await gateway.call('POST', '/auth/login', { password: 'a password for tests' });
    const stop = new AbortController();
    const response = await fetch(`${gateway.app.url}/api/v1/logs/stream?${query}`, {
      headers: { authorization: `Bearer ${login.body.token}`, ...headers },
      signal: stop.signal,
    });
    let text = '';
    const reading = (async () => {
      for await (const chunk of response.body ?? []) text += Buffer.from(chunk).toString();
    })().catch(() => undefined);
    const lines = (): RuntimeLogView[] =>
      [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as RuntimeLogView);
    const end = async (): Promise<void> => {
      stop.abort();
      await reading;
    };
    return { response, lines, end };
  }

  it('sends new lines, and those that a client has missed', async () => {
    new Logger('Streams').warn('stream line before');
    const stream = await follow('level=warning&search=stream%20line');
    expect([stream.response.status, stream.response.headers.get('content-type')]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
    ]);
    new Logger('Streams').log('stream line too quiet');
    new Logger('Streams').warn('stream line one');
    await waitFor(() => stream.lines().length > 0);
    new Logger('Streams').error('stream line two');
    await waitFor(() => stream.lines().some(({ message }) => message === 'stream line two'));
    const shown = stream
      .lines()
      .map(({ message }) => message)
      .filter((message) => message !== 'stream line before');
    expect(shown).toEqual(['stream line one', 'stream line two']);
    const one = stream.lines().find(({ message }) => message === 'stream line one')!;
    await stream.end();
    const again = await follow('level=warning&search=stream%20line', { 'last-event-id': String(one.id) });
    await waitFor(() => again.lines().length > 0);
    expect(again.lines().map(({ message }) => message)).toEqual(['stream line two']);
    await again.end();
  });

  it.each(['level=loud', 'limit=5', 'other=1'])('refuses %s', async (query) => {
    expect((await gateway.call('GET', `/logs/stream?${query}`)).status).toBe(400);
  });
});

it('follows kernel.log_level while it runs', async () => {
  const kernel = new Logger('Kernel');
  await gateway.call('PUT', '/settings', { 'kernel.log_level': 'error' });
  kernel.warn('kernel line one');
  kernel.error('kernel line two');
  await gateway.call('PUT', '/settings', { 'kernel.log_level': 'silent' });
  kernel.error('kernel line three');
  await gateway.call('PUT', '/settings', { 'kernel.log_level': 'debug' });
  kernel.debug('kernel line four');
  expect((await found('kernel line')).map(({ message }) => message)).toEqual(['kernel line four', 'kernel line two']);
});

it('keeps no more lines than the settings allow', async () => {
  const dataSource = gateway.app.app.get(DataSource);
  await gateway.app.app.get(RuntimeLogWriter, { strict: false }).flush();
  await dataSource.query(
    `INSERT INTO runtime_logs (time, level, source, message, fields)
     SELECT now() - interval '8 days', 20, 'api', 'too old', '{}' FROM generate_series(1, 3)`,
  );
  await dataSource.query(
    `INSERT INTO runtime_logs (time, level, source, message, fields)
     SELECT now(), 20, 'api', 'many ' || n, '{}' FROM generate_series(1, 1500) n`,
  );
  await gateway.call('PUT', '/settings', { 'runtime_log.max_rows': '1000' });
  const retention = gateway.app.app.get(RuntimeLogRetention, { strict: false });
  expect(await retention.sweep(Date.now())).toBeGreaterThan(500);
  expect(await found('too old')).toEqual([]);
  const [left] = await dataSource.query(`SELECT count(*)::int AS count FROM runtime_logs WHERE message LIKE 'many %'`);
  expect(left.count).toBeLessThanOrEqual(1_000);
  expect(await found('many 1500')).toHaveLength(1);
});

it('continues without the table and catches up when it is back', async () => {
  const dataSource = gateway.app.app.get(DataSource);
  const writer = gateway.app.app.get(RuntimeLogWriter, { strict: false });
  await writer.flush();
  await dataSource.query('ALTER TABLE runtime_logs RENAME TO runtime_logs_away');
  new Logger('Tester').log('said while away');
  await writer.flush();
  expect((await gateway.call('GET', '/rules')).status).toBe(200);
  await dataSource.query('ALTER TABLE runtime_logs_away RENAME TO runtime_logs');
  expect(await found('said while away')).toHaveLength(1);
});

it('writes the last lines before it stops', async () => {
  const own = await startGateway();
  const dataSource = own.app.app.get(DataSource);
  const rows: string[] = [];
  const query = dataSource.query.bind(dataSource);
  dataSource.query = (async (sql: string, values: unknown[]) => {
    const result: unknown = await query(sql, values);
    if (sql.startsWith('INSERT INTO runtime_logs')) rows.push(String(values[0]));
    return result;
  }) as typeof dataSource.query;
  new Logger('Tester').log('famous last words');
  await own[Symbol.asyncDispose]();
  expect(rows.join('\n')).toContain('famous last words');
});
