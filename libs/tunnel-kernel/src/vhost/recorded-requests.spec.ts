import { createHash } from 'node:crypto';
import { request, type IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { waitFor } from '@gatehouse/testing';
import { HostRig } from '../../test/host-rig.js';
import type { RecordedDetail, RecordLevel, ReplayRequest } from '../index.js';

const HOST = 12;
let rig: HostRig;
afterEach(() => rig.close());

async function start(record?: RecordLevel): Promise<void> {
  rig = await HostRig.start();
  const target = await rig.origin((asked, response) => {
    const parts: Buffer[] = [];
    asked.on('data', (part: Buffer) => parts.push(part));
    asked.on('end', () => {
      if (asked.url === '/cut') return void response.write('begun', () => response.destroy());
      if (asked.url === '/waits') return void response.write('first');
      if (asked.url === '/packed') {
        return void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('{"token":"t0p","n":"é"}'));
      }
      if (asked.url === '/bytes') return void response.end(Buffer.from([0, 255, 254]));
      response.setHeader('set-cookie', 'sid=s3cret; Path=/').setHeader('x-hash', hash(Buffer.concat(parts)));
      response.setHeader('content-type', 'application/json').end('{"ok":"yes","token":"t0p"}');
    });
  });
  await rig.serve(
    rig.hostConfig([target], record ? { record } : {}),
    rig.hostConfig([1], { id: 13, location: '/nowhere', ...(record && { record }) }),
  );
}

function hash(body: Buffer): string {
  return createHash('sha256').update(body).digest('hex');
}

/** The last one, when it has ended. */
function over(hostId = HOST): Promise<RecordedDetail> {
  return waitFor(() => {
    const [found] = rig.server.requests.list(hostId, {}, 1, 1e6).items;
    return found && found.endedMs !== null ? found : null;
  });
}

describe('a host whose requests are not recorded', () => {
  it('has none', async () => {
    await start();
    await rig.ask();
    expect(rig.server.requests.list(HOST, {}, 10).items).toEqual([]);
  });
});

describe('a host whose requests are recorded without heads and bodies', () => {
  it('has method, path, status, times, sizes and visitor of each', async () => {
    await start('requests');
    const from = Date.now();
    await rig.ask({ method: 'POST', path: '/a?token=abc&b=1', body: 'hello', headers: { 'content-length': '5' } });
    const seen = await over();
    expect(seen).toMatchObject({
      level: 'requests',
      method: 'POST',
      scheme: 'http',
      authority: 'a.test',
      target: '/a?token=***&b=1',
      version: '1.1',
      visitor: '127.0.0.1',
      status: 200,
      error: null,
      failure: null,
      verifiedMs: null,
      request: { body: 5 },
      answer: { body: 26 },
      asked: null,
      answered: null,
      replayOf: null,
    });
    expect(seen.startedAt).toBeGreaterThanOrEqual(from);
    const { sentMs, answeredMs, endedMs } = seen;
    expect([0, sentMs, answeredMs, endedMs]).toEqual(
      [0, sentMs, answeredMs, endedMs].sort((a, b) => Number(a) - Number(b)),
    );
    expect(seen.request.head).toBeGreaterThan(30);
    expect(seen.answer.head).toBeGreaterThan(30);
    expect(JSON.stringify(seen)).not.toContain('abc');
  });

  it.each([
    ['/cut', HOST, { status: 200, error: null, failure: 'remote_error' }],
    ['/nowhere', 13, { status: 502, error: 'target_refused', failure: null }],
  ])('says why %s failed', async (path, host, expected) => {
    await start('requests');
    await rig.ask({ path }).catch(() => undefined);
    expect(await over(host)).toMatchObject(expected);
  });

  it('has those that are running', async () => {
    await start('full');
    const asked = request({ port: rig.http, host: '127.0.0.1', path: '/waits', headers: { host: 'a.test' } }).end();
    asked.on('error', () => undefined);
    const running = await waitFor(() => {
      const [found] = rig.server.requests.list(HOST, {}, 1, 1e6).items;
      return found?.answered?.body != null && found;
    });
    expect(running).toMatchObject({ status: 200, endedMs: null, answered: { body: { content: 'first' } } });
    asked.destroy();
    expect((await over()).failure).toBe('client_error');
  });

  it('has none of the gateway’s own paths, where visitors send passwords', async () => {
    await start('full');
    await rig.ask({
      method: 'POST',
      path: '/__gw/login?r=12',
      body: 'password=pw',
      headers: { 'content-length': '11' },
    });
    await rig.ask();
    await over();
    expect(rig.server.requests.list(HOST, {}, 10).items).toHaveLength(1);
  });
});

describe('a host whose requests are recorded in full', () => {
  it('has heads and bodies without their secrets, while the target gets all of it', async () => {
    await start('full');
    const body = 'user=ann&password=hunter2';
    const { headers } = await rig.ask({
      method: 'POST',
      path: '/',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'content-length': String(body.length),
        authorization: 'Bearer b3arer',
        cookie: 'a=c00kie',
      },
      body,
    });
    expect(headers['x-hash']).toBe(hash(Buffer.from(body)));
    const { asked, answered } = await over();
    expect(asked?.fields).toContainEqual(['authorization', 'Bearer ***']);
    expect(asked?.body).toEqual({
      content: 'user=ann&password=***',
      encoding: 'utf8',
      truncated: false,
      unpacked: false,
      masked: true,
    });
    expect(answered?.fields).toContainEqual(['set-cookie', 'sid=***; Path=/']);
    expect(answered?.body?.content).toBe('{"ok":"yes","token":"***"}');
    for (const secret of ['hunter2', 'b3arer', 'c00kie', 's3cret', 't0p']) {
      expect(JSON.stringify([asked, answered])).not.toContain(secret);
    }
  });

  it('keeps the first 64 KiB of a body and counts the rest', async () => {
    await start('full');
    const body = 'é'.repeat(60_000);
    const { headers } = await rig.ask({
      method: 'POST',
      body,
      headers: { 'content-type': 'text/plain', 'content-length': '120000' },
    });
    expect(headers['x-hash']).toBe(hash(Buffer.from(body)));
    const { asked, request: sizes } = await over();
    expect(sizes.body).toBe(120_000);
    expect(asked?.body).toEqual({
      content: 'é'.repeat(32_768),
      encoding: 'utf8',
      truncated: true,
      unpacked: false,
      masked: false,
    });
  });

  it('unpacks what is compressed, and shows bytes as base64', async () => {
    await start('full');
    await rig.ask({ path: '/packed' });
    expect((await over()).answered?.body).toMatchObject({ content: '{"token":"***","n":"é"}', unpacked: true });
    await rig.ask({ path: '/bytes' });
    await waitFor(() => rig.server.requests.list(HOST, {}, 10).items[0]?.target === '/bytes');
    expect((await over()).answered?.body).toMatchObject({ content: 'AP/+', encoding: 'base64' });
  });
});

describe('a recorded request that is sent again', () => {
  const again: ReplayRequest = {
    id: 'f'.repeat(28),
    method: 'POST',
    scheme: 'https',
    authority: 'a.test',
    target: '/again?x=1',
    visitor: '192.0.2.7',
    fields: [
      'Content-Type',
      'text/plain',
      'Connection',
      'keep-alive, X-Own',
      'Transfer-Encoding',
      'chunked',
      'X-Own',
      'y',
    ],
    body: Buffer.from('hello').toString('base64'),
  };

  async function startEcho(record?: RecordLevel): Promise<IncomingMessage[]> {
    rig = await HostRig.start();
    const seen: IncomingMessage[] = [];
    const target = await rig.origin((asked, response) => {
      seen.push(asked);
      asked.pipe(response);
    });
    const more = record ? { record } : {};
    await rig.serve(rig.hostConfig([target], more), rig.hostConfig([1], { id: 13, location: '/nowhere', ...more }));
    return seen;
  }

  it('comes to the target as from the same visitor, marked, and is recorded', async () => {
    const seen = await startEcho('full');
    const { id } = rig.server.replay(HOST, again) as { id: string };
    const record = await over();
    expect(record).toMatchObject({
      id,
      method: 'POST',
      scheme: 'https',
      target: '/again?x=1',
      visitor: '192.0.2.7',
      status: 200,
      failure: null,
      replayOf: again.id,
      request: { body: 5 },
      answered: { body: { content: 'hello' } },
    });
    expect(seen[0]?.method).toBe('POST');
    expect(seen[0]?.headers).toMatchObject({
      host: 'a.test',
      'content-type': 'text/plain',
      'content-length': '5',
      'x-own': 'y',
      'x-gatehouse-replay': again.id,
      'x-forwarded-for': '192.0.2.7',
      'x-forwarded-proto': 'https',
      'x-forwarded-port': '443',
    });
    expect(seen[0]?.headers).not.toHaveProperty('transfer-encoding');
    await waitFor(() => rig.server.flows === 0);
  });

  it('has no body where there was none, and ends with a target that does not answer', async () => {
    await startEcho('requests');
    expect(rig.server.replay(13, { ...again, method: 'GET', body: null })).toHaveProperty('id');
    expect(await over(13)).toMatchObject({ status: 502, error: 'target_refused', replayOf: again.id });
    await waitFor(() => rig.server.flows === 0);
  });

  it('is refused where nothing would be seen of it, where it is no request, and where visitors are refused', async () => {
    const seen = await startEcho();
    expect(rig.server.replay(HOST, again)).toEqual({ refusal: 'unrecorded' });
    expect(rig.server.replay(99, again)).toEqual({ refusal: 'unrecorded' });
    await rig.close();
    await startEcho('full');
    expect(rig.server.replay(HOST, { ...again, target: '/a b' })).toEqual({ refusal: 'unreadable' });
    expect(rig.server.replay(HOST, { ...again, fields: ['Bad name', 'x'] })).toHaveProperty('id');
    expect((await over()).status).toBe(502);
    const rule = { id: 1, scope: 'host', resourceId: HOST, type: 'deny', kind: 'exact', priority: 0 } as const;
    const hosts = [rig.hostConfig([1], { record: 'full' })];
    await rig.server.apply(rig.config({ hosts, ipRules: [{ ...rule, pattern: again.visitor }] }));
    expect(rig.server.replay(HOST, again)).toEqual({ refusal: 'refused' });
    expect(seen).toEqual([]);
  });
});
