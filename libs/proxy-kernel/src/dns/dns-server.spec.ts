import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import type { DnsConfig } from '../interfaces/config.js';
import type { DnsLimits } from './client-limits.js';
import { DnsServer, createFakeIpPool, createNameService } from './index.js';
import { TYPE } from './message-reader.js';
import { decodeReply, encodeQuestion } from './message.js';
import { CODE, decodeQuery, encodeAnswer } from './query-message.js';

const TXT = 16;
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/**
 * Answers `*.known.test` (10.1.2.3, for 60 s), denies `gone.test`, fails for `broken.test`, and ignores `slow.test`.
 */
async function nameServer() {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, from) => {
    const query = decodeQuery(message);
    asked.push(`${query.type} ${query.name}`);
    if (query.name.endsWith('slow.test')) return;
    const code = query.name === 'gone.test' ? CODE.noSuchName : query.name === 'broken.test' ? CODE.failure : CODE.ok;
    const text = query.name.startsWith('long') ? Buffer.alloc(1000, 200) : Buffer.from('\x05hello');
    const data = query.type === TXT ? text : Buffer.from([10, 1, 2, 3]);
    const has = code === CODE.ok && [TYPE.A, TXT, TYPE.HTTPS].includes(query.type);
    const answer = { code, type: query.type, ttl: 60, addresses: has ? [data] : [] };
    socket.send(encodeAnswer(query, answer, 1232), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  closers.push(() => socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, asked };
}

interface Setup {
  config?: Partial<DnsConfig>;
  limits?: Partial<DnsLimits>;
  address?: string;
  systemServers?: () => string[];
}

async function start({ config = {}, limits, address = '127.0.0.1', systemServers }: Setup = {}) {
  const upstream = await nameServer();
  const dns: DnsConfig = { nameservers: [upstream.address], ...config };
  const names = createNameService(dns, { attemptMs: 400, ...(systemServers && { systemServers }) });
  const fakeIps = dns.fakeIp ? createFakeIpPool(dns.fakeIp.range, dns.fakeIp.filter) : null;
  const all = {
    pending: 100,
    pendingPerClient: 100,
    ratePerClient: 1000,
    bytesPerClient: 100_000,
    clients: 10,
    ...limits,
  };
  const server = new DnsServer(
    { address, port: 0 },
    { source: () => ({ names, fakeIps }), logger: quiet, limits: all },
  );
  await server.listen();
  closers.push(() => server.close());
  const client = new Resolver({ timeout: 2000, tries: 1 });
  client.setServers([`${address.includes(':') ? `[${address}]` : address}:${server.port}`]);
  return { server, client, fakeIps, asked: upstream.asked, port: server.port };
}

/** Sends one message over UDP; null if nothing comes within the time. */
async function ask(port: number, message: Buffer, waitMs = 2000): Promise<Buffer | null> {
  const socket = createSocket('udp4');
  socket.send(message, port, '127.0.0.1');
  try {
    const [reply] = (await once(socket, 'message', { signal: AbortSignal.timeout(waitMs) })) as [Buffer];
    return reply;
  } catch {
    return null;
  } finally {
    socket.close();
  }
}

async function openTcp(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  socket.on('error', () => undefined);
  closers.push(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

const framed = (message: Buffer) => Buffer.concat([Buffer.from([message.length >> 8, message.length & 255]), message]);

/** Collects all messages until the other side ends. */
async function replies(socket: Socket): Promise<Buffer[]> {
  let bytes = Buffer.alloc(0);
  for await (const chunk of socket as AsyncIterable<Buffer>) bytes = Buffer.concat([bytes, chunk]);
  const found: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += 2 + bytes.readUInt16BE(at)) {
    found.push(bytes.subarray(at + 2, at + 2 + bytes.readUInt16BE(at)));
  }
  return found;
}

describe('a listener for questions', () => {
  it('answers from name servers, with the remaining lifetime, and asks them once', async () => {
    const { client, asked } = await start();
    expect(await client.resolve4('Www.Known.test', { ttl: true })).toEqual([{ address: '10.1.2.3', ttl: 60 }]);
    expect(await client.resolve4('www.known.test')).toEqual(['10.1.2.3']);
    await expect(client.resolve6('www.known.test')).rejects.toMatchObject({ code: 'ENODATA' });
    expect(asked.filter((line) => line === '1 www.known.test')).toHaveLength(1);
  });

  it('distinguishes missing names, names without addresses, and names that cannot be resolved', async () => {
    const { client } = await start();
    await expect(client.resolve4('gone.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
    await expect(client.resolve4('broken.test')).rejects.toMatchObject({ code: 'ESERVFAIL' });
    await expect(client.resolve4('very.slow.test')).rejects.toMatchObject({ code: 'ESERVFAIL' });
  });

  it('answers fixed names of either family and uses other servers by domain', async () => {
    const other = await nameServer();
    const { client, asked } = await start({
      config: { hosts: { '+.home': ['192.168.1.5', 'fd00::5'] }, policy: { '+.corp.test': [other.address] } },
    });
    expect(await client.resolve4('nas.home')).toEqual(['192.168.1.5']);
    expect(await client.resolve6('nas.home')).toEqual(['fd00::5']);
    expect(await client.resolve4('localhost')).toEqual(['127.0.0.1']);
    expect(await client.resolve4('x.corp.test')).toEqual(['10.1.2.3']);
    expect([asked, other.asked.toSorted()]).toEqual([[], ['1 x.corp.test', '28 x.corp.test']]);
  });

  it('forwards questions of other types, over TCP if the replies are long', async () => {
    const { client, asked, port } = await start();
    expect(await client.resolveTxt('known.test')).toEqual([['hello']]);
    const plain = await ask(port, encodeQuestion(5, 'LONG.known.test', TXT, { options: null }));
    expect(decodeReply(plain ?? Buffer.alloc(0))).toMatchObject({ id: 5, truncated: true });
    const socket = await openTcp(port);
    socket.end(framed(encodeQuestion(6, 'LONG.known.test', TXT, { options: null })));
    const [whole] = await replies(socket);
    expect(whole?.length).toBeGreaterThan(1000);
    expect(whole?.includes('LONG')).toBe(true);
    expect(asked.filter((line) => line.startsWith('16'))).toHaveLength(3);
    await expect(client.resolveTxt('broken.test')).rejects.toMatchObject({ code: 'ESERVFAIL' });
    await expect(client.resolveTxt('gone.test')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it('forwards them to the name servers of the system if it is configured', async () => {
    const { address } = await nameServer();
    let system = [address];
    const { client } = await start({ config: { nameservers: ['system'] }, systemServers: () => system });
    expect(await client.resolveTxt('known.test')).toEqual([['hello']]);
    system = [];
    await expect(client.resolveTxt('known.test')).rejects.toMatchObject({ code: 'ESERVFAIL' });
  });

  it('answers with addresses that stand for names, and nothing that bypasses them', async () => {
    const { client, fakeIps, asked, port } = await start({
      config: { fakeIp: { range: '198.18.0.0/16', filter: ['+.known.test'] }, hosts: { 'set.test': ['10.9.9.9'] } },
    });
    const [answer] = await client.resolve4('any.test', { ttl: true });
    expect(answer).toMatchObject({ address: expect.stringMatching(/^198\.18\./), ttl: 1 });
    expect(fakeIps?.nameOf(answer?.address ?? '')).toBe('any.test');
    await expect(client.resolve6('any.test')).rejects.toMatchObject({ code: 'ENODATA' });
    const https = decodeReply((await ask(port, encodeQuestion(1, 'any.test', TYPE.HTTPS))) ?? Buffer.alloc(0));
    expect([https.code, asked]).toEqual([0, []]);
    expect(await client.resolve4('set.test')).toEqual(['10.9.9.9']);
    expect(await client.resolve4('www.known.test')).toEqual(['10.1.2.3']);
    expect(await client.resolveTxt('any.test')).toEqual([['hello']]);
  });

  it('refuses unsupported queries, and does not answer other messages', async () => {
    const { port } = await start();
    const codeOf = async (message: Buffer) => ((await ask(port, message)) ?? Buffer.alloc(4)).readUInt16BE(2) & 15;
    expect(await codeOf(encodeQuestion(1, 'known.test', TYPE.ANY))).toBe(CODE.notImplemented);
    expect(await codeOf(encodeQuestion(1, 'known.test', 252))).toBe(CODE.notImplemented);
    const chaos = encodeQuestion(1, 'version.bind', TXT, { options: null });
    chaos.writeUInt16BE(3, chaos.length - 2);
    expect(await codeOf(chaos)).toBe(CODE.refused);
    const later = encodeQuestion(1, 'known.test', TYPE.A);
    later[later.length - 5] = 1;
    expect(((await ask(port, later)) ?? Buffer.alloc(0)).at(-6)).toBe(1);
    expect(await codeOf(Buffer.alloc(12))).toBe(CODE.badFormat);
    for (const junk of [Buffer.from('x'), encodeAnswer(decodeQuery(later), { code: 0 }, 512)])
      expect(await ask(port, junk, 150)).toBeNull();
  });

  it('answers many questions of one connection in any order', async () => {
    const { port } = await start({ config: { hosts: { 'set.test': ['10.9.9.9'] } } });
    const socket = await openTcp(port);
    const questions = ['very.slow.test', ...Array(150).fill('www.known.test'), 'set.test'].map((name, id) =>
      framed(encodeQuestion(id, name, TYPE.A)),
    );
    const bytes = Buffer.concat(questions);
    socket.write(bytes.subarray(0, 5));
    setImmediate(() => socket.end(bytes.subarray(5)));
    const found = (await replies(socket)).map(decodeReply);
    expect(found.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(questions.map((_, id) => id));
    expect(found.at(-1)).toMatchObject({ id: 0, code: CODE.failure });
    expect(found.find(({ id }) => id === 151)?.records[0]?.value).toBe('10.9.9.9');
  });

  it('closes a connection that sends no questions', async () => {
    const { port } = await start();
    const socket = await openTcp(port);
    socket.write(framed(Buffer.from('no question')));
    expect(await replies(socket)).toEqual([]);
    expect((await start().then(({ client }) => client.resolve4('a.known.test'))).length).toBe(1);
  });

  it('limits the questions of a client at once and by second', async () => {
    const few = await start({ limits: { pendingPerClient: 2 } });
    const slow = ['a.slow.test', 'b.slow.test'].map((name) => ask(few.port, encodeQuestion(1, name, TYPE.A)));
    await expect.poll(() => few.asked.length).toBe(4);
    const refused = await ask(few.port, encodeQuestion(1, 'c.known.test', TYPE.A));
    expect(decodeReply(refused ?? Buffer.alloc(0)).code).toBe(CODE.refused);
    for (const reply of await Promise.all(slow)) expect(decodeReply(reply ?? Buffer.alloc(0)).code).toBe(CODE.failure);
    expect(await few.client.resolve4('c.known.test')).toEqual(['10.1.2.3']);

    const rare = await start({ limits: { ratePerClient: 1 } });
    const question = encodeQuestion(1, 'localhost', TYPE.A);
    const [first, second] = [await ask(rare.port, question), await ask(rare.port, question)];
    expect([first, second]).not.toContain(null);
    expect(await ask(rare.port, question, 150)).toBeNull();
    const socket = await openTcp(rare.port);
    socket.write(framed(question));
    expect(await replies(socket)).toEqual([]);
  });

  it.each([
    ['0.0.0.0', true],
    ['127.0.0.1', false],
  ])('on %s limits the bytes sent to one client over UDP: %s', async (address, isLimited) => {
    const { port } = await start({ address, limits: { bytesPerClient: 600 } });
    const question = encodeQuestion(7, 'long.known.test', TXT);
    const sizes: number[] = [];
    let last: Buffer = Buffer.alloc(0);
    for (let i = 0; i < 5; i++) {
      last = (await ask(port, question)) ?? last;
      sizes.push(last.length);
    }
    expect(sizes[0]).toBeGreaterThan(1_000);
    if (!isLimited) {
      expect(new Set(sizes).size).toBe(1);
      return;
    }
    expect(sizes.at(-1)).toBeLessThanOrEqual(question.length);
    expect(last.readUInt16BE(2) & 0x0200).toBe(0x0200);
    const socket = await openTcp(port);
    socket.end(framed(question));
    const [whole] = await replies(socket);
    expect(whole?.length).toBeGreaterThan(1_000);
  });

  it('binds its port for both protocols, releases it and binds it again', async () => {
    const { server, client, port } = await start();
    const second = new DnsServer({ address: '127.0.0.1', port }, { source: () => null, logger: quiet });
    await expect(second.listen()).rejects.toMatchObject({ code: 'EADDRINUSE' });
    expect(await client.resolve4('a.known.test')).toEqual(['10.1.2.3']);
    await server.close();
    expect(await ask(port, encodeQuestion(1, 'localhost', TYPE.A), 100)).toBeNull();
    await server.listen();
    expect([server.port, server.state.state]).toEqual([port, 'listening']);
    expect(await client.resolve4('a.known.test')).toEqual(['10.1.2.3']);
  });

  it('binds nothing if only one of the two protocols is free', async () => {
    const taken = createSocket('udp4').bind(0, '127.0.0.1');
    await once(taken, 'listening');
    closers.push(() => taken.close());
    const server = new DnsServer(
      { address: '127.0.0.1', port: taken.address().port },
      { source: () => null, logger: quiet },
    );
    await expect(server.listen()).rejects.toMatchObject({ code: 'EADDRINUSE' });
    const socket = connect(taken.address().port, '127.0.0.1');
    expect(await once(socket, 'error')).toMatchObject([{ code: 'ECONNREFUSED' }]);
  });

  it('listens on an IPv6 address', async () => {
    const { client } = await start({ address: '::1' });
    expect(await client.resolve4('a.known.test')).toEqual(['10.1.2.3']);
  });
});
