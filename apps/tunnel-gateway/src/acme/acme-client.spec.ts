import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { createPrivateKey, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { AcmeClient } from './acme-client.js';
import { AcmeProblem, retryTime } from './acme-problem.js';
import type { AcmeAnswer, AcmeRequest } from './acme-transport.js';
import { createTransport } from './acme-transport.js';

const BASE = 'https://ca.example';
const DIRECTORY = {
  newNonce: `${BASE}/nonce`,
  newAccount: `${BASE}/account`,
  newOrder: `${BASE}/order`,
  renewalInfo: `${BASE}/info`,
};

type Reply = Partial<AcmeAnswer> & { json?: unknown };

/** A fake authority: answers by path, and repeats the last answer. */
function fake(replies: Record<string, Reply[]>): { client: AcmeClient; asked: AcmeRequest[] } {
  const asked: AcmeRequest[] = [];
  const transport = async (request: AcmeRequest): Promise<AcmeAnswer> => {
    asked.push(request);
    const path = new URL(request.url).pathname;
    if (path === '/dir') return { status: 200, headers: {}, text: JSON.stringify(DIRECTORY) };
    if (path === '/nonce') return { status: 200, headers: { 'replay-nonce': `n${asked.length}` }, text: '' };
    const queue = replies[path] ?? [];
    const reply = (queue.length > 1 ? queue.shift() : queue[0]) ?? { status: 404 };
    return { status: 200, headers: {}, text: JSON.stringify(reply.json ?? {}), ...reply };
  };
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const accountKey = createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const signal = AbortSignal.timeout(5_000);
  const client = new AcmeClient({ transport, directory: `${BASE}/dir`, accountKey, account: `${BASE}/me`, signal });
  return { client, asked };
}

const problem = (type: string, status: number, headers = {}): Reply => ({
  status,
  headers,
  json: { type: `urn:ietf:params:acme:error:${type}`, detail: 'because', subproblems: [{ detail: 'of this' }] },
});
const payloadOf = ({ body = '{}' }: AcmeRequest): unknown =>
  JSON.parse(Buffer.from((JSON.parse(body) as { payload: string }).payload, 'base64url').toString());

describe('an ACME client', () => {
  it('retries a refused nonce, but not forever', async () => {
    const order: Reply = { status: 201, headers: { location: '/orders/1' }, json: { status: 'pending' } };
    const { client } = fake({ '/order': [problem('badNonce', 400), problem('badNonce', 400), order] });
    expect((await client.order('a.example', null)).url).toBe(`${BASE}/orders/1`);
    const refusing = fake({ '/order': [problem('badNonce', 400)] });
    await expect(refusing.client.order('a.example', null)).rejects.toMatchObject({ type: 'badNonce' });
    expect(refusing.asked.filter(({ method }) => method === 'POST')).toHaveLength(25);
  });

  it('reports a rate limit and when it ends', async () => {
    const { client } = fake({ '/order': [problem('rateLimited', 429, { 'retry-after': '7200' })] });
    const error = await client.order('a.example', null).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(AcmeProblem);
    const { type, message, retryAt } = error as AcmeProblem;
    expect([type, message]).toEqual(['rateLimited', 'rateLimited: because; of this']);
    expect(retryAt).toBeGreaterThan(Date.now() + 7_190_000);
  });

  it.each([
    ['renewed already', 'alreadyReplaced', 409],
    ['of another authority', 'malformed', 404],
    ['of another account', 'unauthorized', 403],
  ])('names the certificate that it renews, and orders a new one if that was %s', async (_why, type, status) => {
    const order: Reply = { status: 201, headers: { location: '/orders/1' }, json: {} };
    const { client, asked } = fake({ '/order': [problem(type, status), order] });
    await client.order('a.example', 'aki.serial');
    const [first, second] = asked.filter(({ method }) => method === 'POST').map(payloadOf);
    expect(first).toMatchObject({ replaces: 'aki.serial' });
    expect(second).toEqual({ identifiers: [{ type: 'dns', value: 'a.example' }] });
  });

  it('asks the authority when to renew', async () => {
    const suggestedWindow = { start: '2026-01-01T00:00:00Z', end: '2026-01-02T00:00:00Z' };
    const { client } = fake({ '/info/aki.serial': [{ json: { suggestedWindow } }] });
    expect((await client.renewalInfo('aki.serial'))?.value).toEqual({ suggestedWindow });
  });

  it.each(['no json', '[]', '"text"', 'null'])('rejects %s, which is not a JSON object', async (text) => {
    const { client } = fake({ '/orders/1': [{ text }] });
    await expect(client.read(`${BASE}/orders/1`)).rejects.toMatchObject({ type: 'answer' });
  });
});

describe('the answers of an ACME authority', () => {
  it('are requested over https only', async () => {
    const transport = createTransport('test', null, 'https://127.0.0.1:9/dir');
    const signal = AbortSignal.timeout(5_000);
    await expect(transport({ method: 'GET', url: 'http://127.0.0.1/', signal })).rejects.toMatchObject({
      type: 'answer',
    });
    await expect(transport({ method: 'GET', url: 'https://127.0.0.1:9/', signal })).rejects.toMatchObject({
      type: 'connection',
    });
  });

  it('never lead to a local or private address, except that of the authority itself', async () => {
    const transport = createTransport('test', null, 'https://ca.example.org/dir');
    const signal = AbortSignal.timeout(5_000);
    let reached = 0;
    const server = createServer((socket) => {
      reached += 1;
      socket.on('error', () => undefined).destroy();
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    try {
      for (const host of ['127.0.0.1', 'localhost', 'localhost.', 'x.localhost', '0x7f.1', '[::ffff:127.0.0.1]']) {
        const asked = transport({ method: 'GET', url: `https://${host}:${port}/`, signal });
        await expect(asked, host).rejects.toMatchObject({ type: 'connection' });
      }
      expect(reached).toBe(0);
      const own = createTransport('test', null, `https://127.0.0.1:${port}/dir`);
      await expect(own({ method: 'GET', url: `https://127.0.0.1:${port}/order`, signal })).rejects.toBeDefined();
      expect(reached).toBe(1);
    } finally {
      server.close();
    }
  });

  it('can name a time to retry, in seconds or as a date', () => {
    expect(retryTime('3', 1_000)).toBe(4_000);
    expect(retryTime('Thu, 01 Jan 1970 00:00:10 GMT', 1_000)).toBe(10_000);
    expect(retryTime('Thu, 01 Jan 1970 00:00:00 GMT', 1_000)).toBe(1_000);
    expect([retryTime('soon', 0), retryTime(undefined, 0)]).toEqual([null, null]);
  });

  it('become error texts of one line and limited length', () => {
    const { message } = new AcmeProblem({ type: 'malformed', detail: `a\r\n\u0000b${'c'.repeat(1_000)}` });
    expect(message).toMatch(/^malformed: a bc+$/);
    expect(message.length).toBeLessThan(420);
  });
});
