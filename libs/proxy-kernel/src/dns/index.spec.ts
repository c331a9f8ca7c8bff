import { once } from 'node:events';
import { type Socket, createSocket } from 'node:dgram';
import { afterEach, describe, expect, it } from 'vitest';
import { KernelConfigError } from '../interfaces/kernel.js';
import { DialError } from '../interfaces/outbound.js';
import { type SystemResolverOptions, createSystemResolver } from './index.js';

type Record = { type: 1 | 28; ttl: number; data: Buffer };
type Reply = Record[] | 'nxdomain' | 'servfail' | 'silence';

const a = (ttl: number, ...bytes: number[]): Record => ({ type: 1, ttl, data: Buffer.from(bytes) });
const aaaa = (ttl: number, last: number): Record => ({
  type: 28,
  ttl,
  data: Buffer.from([0x20, 1, 0xd, 0xb8, ...Array<number>(11).fill(0), last]),
});

/** A name server on a port of its own, with answers set by the test and a list of its questions. */
class NameServer {
  readonly asked: string[] = [];
  readonly held: (() => void)[] = [];
  hold = false;
  readonly #socket: Socket = createSocket('udp4');
  readonly #answer: (name: string) => Reply;

  constructor(answer: (name: string) => Reply) {
    this.#answer = answer;
    this.#socket.on('message', (query, from) => {
      const send = () => {
        for (const reply of this.#replies(query)) this.#socket.send(reply, from.port, from.address);
      };
      if (this.hold) this.held.push(send);
      else send();
    });
  }

  async listen(): Promise<string> {
    this.#socket.bind(0, '127.0.0.1');
    await once(this.#socket, 'listening');
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  close(): void {
    this.#socket.close();
  }

  #replies(query: Buffer): Buffer[] {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += length + 1;
    }
    const type = query.readUInt16BE(at + 1);
    const question = query.subarray(12, at + 5);
    const name = labels.join('.').toLowerCase();
    this.asked.push(`${name} ${type === 1 ? 'A' : 'AAAA'}`);
    const answer = this.#answer(name);
    if (answer === 'silence') return [];
    const records = typeof answer === 'string' ? [] : answer.filter((record) => record.type === type);
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(0x8180 | (answer === 'nxdomain' ? 3 : answer === 'servfail' ? 2 : 0), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    return [Buffer.concat([header, question, ...records.flatMap(encode)])];
  }
}

function encode(record: Record): Buffer[] {
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(record.type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(record.ttl, 6);
  head.writeUInt16BE(record.data.length, 10);
  return [head, record.data];
}

const servers: NameServer[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function setUp(answer: (name: string) => Reply, options: SystemResolverOptions = {}) {
  const server = new NameServer(answer);
  servers.push(server);
  const clock = { now: 1_000_000 };
  const resolver = createSystemResolver({ servers: [await server.listen()], now: () => clock.now, ...options });
  return { server, clock, resolver };
}

async function failure(work: Promise<unknown>): Promise<DialError> {
  const error: unknown = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (error instanceof DialError) return error;
  throw new Error('no DialError was thrown', { cause: error });
}

describe('resolver over name servers', () => {
  it('gives both families, IPv4 first, and asks once', async () => {
    const { server, resolver } = await setUp(() => [aaaa(60, 1), a(60, 10, 0, 0, 1), a(60, 10, 0, 0, 2)]);
    expect(await resolver.resolve('Example.COM.')).toEqual(['10.0.0.1', '10.0.0.2', '2001:db8::1']);
    expect(await resolver.resolve('example.com')).toHaveLength(3);
    expect(server.asked.toSorted()).toEqual(['example.com A', 'example.com AAAA']);
  });

  it('keeps an answer for its lifetime, within bounds', async () => {
    const { server, clock, resolver } = await setUp(
      (name) => [a(name === 'short.test' ? 1 : name === 'long.test' ? 86_400 : 30, 10, 0, 0, 1)],
      {
        minTtlMs: 10_000,
        maxTtlMs: 60_000,
      },
    );
    const questions = async (name: string, afterMs: number) => {
      clock.now += afterMs;
      const before = server.asked.length;
      await resolver.resolve(name);
      return server.asked.length - before;
    };
    expect(await questions('short.test', 0)).toBe(2);
    expect(await questions('short.test', 9999)).toBe(0);
    expect(await questions('short.test', 1)).toBe(2);
    expect(await questions('plain.test', 0)).toBe(2);
    expect(await questions('plain.test', 29_999)).toBe(0);
    expect(await questions('plain.test', 1)).toBe(2);
    expect(await questions('long.test', 0)).toBe(2);
    expect(await questions('long.test', 59_999)).toBe(0);
    expect(await questions('long.test', 1)).toBe(2);
  });

  it('keeps an answer without a lifetime for the question at hand only', async () => {
    const { server, resolver } = await setUp(() => [a(0, 10, 0, 0, 1)], { minTtlMs: 10_000 });
    const together = await Promise.all([resolver.lookup('zero.test'), resolver.lookup('zero.test')]);
    expect(together.map(({ addresses, ttlMs }) => [addresses, ttlMs])).toEqual(Array(2).fill([['10.0.0.1'], 0]));
    expect(server.asked).toHaveLength(2);
    await resolver.lookup('zero.test');
    expect(server.asked).toHaveLength(4);
  });

  it('remembers that a name does not exist, for a while', async () => {
    const { server, clock, resolver } = await setUp(() => 'nxdomain', { negativeTtlMs: 5000 });
    expect(await failure(resolver.resolve('no.test'))).toMatchObject({
      stage: 'dns',
      kind: 'dns_error',
      message: 'no.test: no such name',
    });
    const asked = server.asked.length;
    await failure(resolver.resolve('no.test'));
    expect(server.asked.length).toBe(asked);
    clock.now += 5000;
    await failure(resolver.resolve('no.test'));
    expect(server.asked.length).toBeGreaterThan(asked);
  });

  it('does not remember a server that failed', async () => {
    let broken = true;
    const { resolver } = await setUp(() => (broken ? 'servfail' : [a(60, 10, 0, 0, 9)]));
    expect(await failure(resolver.resolve('flaky.test'))).toMatchObject({ kind: 'dns_error' });
    broken = false;
    expect(await resolver.resolve('flaky.test')).toEqual(['10.0.0.9']);
  });

  it('uses one family if the other has no addresses', async () => {
    const { resolver } = await setUp(() => [aaaa(60, 7)]);
    expect(await resolver.resolve('six.test')).toEqual(['2001:db8::7']);
  });

  it('gives up on a server that does not answer', async () => {
    const { resolver } = await setUp(() => 'silence', { timeoutMs: 100 });
    expect(await failure(resolver.resolve('silent.test'))).toMatchObject({ stage: 'dns', kind: 'timeout' });
  });

  it('asks once for many callers, even if one of them leaves', async () => {
    const { server, resolver } = await setUp(() => [a(60, 10, 0, 0, 1)]);
    server.hold = true;
    const controller = new AbortController();
    const leaving = failure(resolver.resolve('busy.test', controller.signal));
    const others = Array.from({ length: 20 }, () => resolver.resolve('busy.test'));
    await expect.poll(() => server.held.length).toBe(2);
    controller.abort(new Error('client left'));
    expect(await leaving).toMatchObject({ stage: 'dns', kind: 'other' });
    for (const send of server.held.splice(0)) send();
    expect(await Promise.all(others)).toEqual(Array(20).fill(['10.0.0.1']));
    expect(server.held).toHaveLength(0);
    expect(await failure(resolver.resolve('busy.test', controller.signal))).toMatchObject({ kind: 'other' });
  });

  it('refuses a flood of names, and recovers from it', async () => {
    let silent = true;
    const { resolver } = await setUp(() => (silent ? 'silence' : [a(60, 10, 0, 0, 1)]), { timeoutMs: 500 });
    const flood = Array.from({ length: 1024 }, (_, i) => failure(resolver.resolve(`flood-${i}.test`)));
    expect(await failure(resolver.resolve('one-too-many.test'))).toMatchObject({
      message: expect.stringContaining('too many') as string,
    });
    expect(new Set((await Promise.all(flood)).map((error) => error.kind))).toEqual(new Set(['timeout']));
    silent = false;
    await expect
      .poll(() => resolver.resolve('after.test').catch(() => null), { timeout: 10_000 })
      .toEqual(['10.0.0.1']);
  });

  it('keeps no more names than allowed', async () => {
    const { server, resolver } = await setUp(() => [a(60, 10, 0, 0, 1)], { cacheSize: 2 });
    for (const name of ['one.test', 'two.test', 'one.test', 'three.test']) await resolver.resolve(name);
    expect(resolver.cachedNames).toBe(2);
    const before = server.asked.length;
    await resolver.resolve('one.test');
    expect(server.asked.length).toBe(before);
    await resolver.resolve('two.test');
    expect(server.asked.length).toBe(before + 2);
    resolver.clear();
    expect(resolver.cachedNames).toBe(0);
  });

  it('returns arrays that a caller may change', async () => {
    const { resolver } = await setUp(() => [a(60, 10, 0, 0, 1)]);
    (await resolver.resolve('x.test')).push('broken');
    expect(await resolver.resolve('x.test')).toEqual(['10.0.0.1']);
  });

  it('asks no server for hosts, literals, localhost and invalid names', async () => {
    const { server, resolver } = await setUp(() => [a(60, 10, 0, 0, 1)], {
      hosts: new Map([['nas.home', ['192.168.1.9']]]),
    });
    expect(await resolver.resolve('NAS.home')).toEqual(['192.168.1.9']);
    expect(await resolver.resolve('2001:db8::1')).toEqual(['2001:db8::1']);
    expect(await resolver.resolve('app.localhost')).toEqual(['127.0.0.1', '::1']);
    for (const name of ['', 'a b', 'a\0b', 'x'.repeat(254), 'http://a']) {
      expect(await failure(resolver.resolve(name))).toMatchObject({ kind: 'dns_error' });
    }
    expect(server.asked).toEqual([]);
  });

  it('refuses hosts and servers that are not addresses', () => {
    expect(() => createSystemResolver({ hosts: new Map([['a', ['b']]]) })).toThrow(KernelConfigError);
    expect(() => createSystemResolver({ servers: ['not an address'] })).toThrow(KernelConfigError);
  });
});

describe('resolver over the system', () => {
  it('fails with a coded error for an unknown name', async () => {
    const resolver = createSystemResolver({ timeoutMs: 3000 });
    expect(await failure(resolver.resolve('does-not-exist.invalid'))).toMatchObject({ stage: 'dns' });
  });

  it('knows the names of the hosts file', async () => {
    const { readFile } = await import('node:fs/promises');
    const hosts = await readFile('/etc/hosts', 'utf8').catch(() => '');
    const entry = hosts
      .split('\n')
      .map((line) => line.replace(/#.*/, '').trim().split(/\s+/))
      .find(([address, name]) => address?.includes('.') && name !== undefined && name !== 'localhost');
    const [address = '127.0.0.1', name = 'localhost'] = entry ?? [];
    expect(await createSystemResolver().resolve(name)).toContain(address);
  });
});
