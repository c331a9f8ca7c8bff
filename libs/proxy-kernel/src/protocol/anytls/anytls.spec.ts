import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { ByteStream } from '@gatehouse/net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createChainDialer, fixedHop } from '../../transport/chain-dialer.js';
import { createDirectDialer } from '../../transport/server-dialer.js';
import { DirectOutbound } from '../direct/outbound.js';
import { COMMAND, FrameDecoder, frame } from './frame.js';
import { anytlsOptions } from './outbound.js';
import { PaddingScheme } from './padding.js';
import { AnyTlsSessionPool, type PoolOptions } from './session-pool.js';
import { AnyTlsStream } from './stream.js';

describe('padding', () => {
  it('is the protocol’s own by default', () => {
    const { default: scheme } = PaddingScheme;
    expect(scheme.stop).toBe(8);
    expect(scheme.records(0)).toEqual([30]);
    expect(scheme.records(8)).toEqual([]);
    for (let round = 0; round < 50; round += 1) {
      const [first, ...rest] = scheme.records(2);
      expect(first).toBeGreaterThanOrEqual(400);
      expect(first).toBeLessThan(500);
      expect(rest.filter((step) => step === 'check')).toHaveLength(4);
    }
  });

  it.each(['', '1=2-3', 'stop=x', 'stop=-1', 'stop=1000000', `stop=2\n1=${'1-2,'.repeat(20)}`])('is not %j', (text) =>
    expect(PaddingScheme.parse(text)).toBeNull(),
  );

  it('leaves out invalid steps', () => {
    const scheme = PaddingScheme.parse('stop=3\n1=5-5,x,0-0,9-9,99999-99999,c\n2=7-6');
    expect(scheme?.records(1)).toEqual([5, 9, 'check']);
    expect(scheme?.records(2)).toEqual([6]);
    expect(scheme?.records(0)).toEqual([]);
  });
});

describe('options of a node', () => {
  it('are read with their Clash names, within bounds', () => {
    const node = { name: 'x', type: 'anytls', server: 's.test', port: 1 } as const;
    expect(anytlsOptions({ ...node, options: {} })).toEqual({
      tls: { skipCertVerify: false },
      pool: { password: '', idleMs: 30_000 },
    });
    const options = {
      password: 'p',
      sni: 'a.test',
      alpn: ['h2', ''],
      fingerprint: 'ab',
      'skip-cert-verify': true,
      'idle-session-timeout': 1e9,
    };
    expect(anytlsOptions({ ...node, options })).toEqual({
      tls: { skipCertVerify: true, sni: 'a.test', alpn: ['h2'], fingerprint: 'ab' },
      pool: { password: 'p', idleMs: 3_600_000 },
    });
  });
});

interface Seen {
  command: number;
  stream: number;
  content: string;
}

/** A connection as the server sees it. */
class Connection {
  readonly seen: Seen[] = [];
  readonly socket: Socket;
  auth = Buffer.alloc(0);
  private authLength = Infinity;

  constructor(socket: Socket) {
    this.socket = socket;
    const decoder = new FrameDecoder({
      data: (stream, piece) => this.seen.push({ command: COMMAND.push, stream, content: piece.toString() }),
      command: (command, stream, content) => this.seen.push({ command, stream, content: content.toString() }),
    });
    socket.on('data', (bytes: Buffer) => {
      if (this.authLength === 0) return decoder.push(bytes);
      this.auth = Buffer.concat([this.auth, bytes]);
      if (this.auth.length >= 34) this.authLength = 34 + this.auth.readUInt16BE(32);
      if (this.auth.length < this.authLength) return;
      decoder.push(this.auth.subarray(this.authLength));
      this.authLength = 0;
    });
    socket.on('error', () => undefined);
  }

  send(...frames: Buffer[]): void {
    this.socket.write(Buffer.concat(frames));
  }

  /** The first `count` frames, without padding. */
  async frames(count: number): Promise<Seen[]> {
    await expect.poll(() => this.seen.length).toBeGreaterThanOrEqual(count);
    return this.seen;
  }
}

describe('sessions', () => {
  let server: Server;
  let connections: Connection[];
  const pools: AnyTlsSessionPool[] = [];
  const dialer = createDirectDialer({ resolve: () => Promise.resolve(['127.0.0.1']) });
  const context = { signal: new AbortController().signal };
  const options: PoolOptions = { password: 'secret', idleMs: 30_000 };

  beforeEach(async () => {
    connections = [];
    server = createServer((socket) => connections.push(new Connection(socket))).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    for (const pool of pools.splice(0)) pool.close();
    for (const { socket } of connections) socket.destroy();
    server.close();
  });

  /** Without TLS, which sessions do not depend on. */
  function newPool(more: Partial<PoolOptions> = {}): AnyTlsSessionPool {
    const { port } = server.address() as AddressInfo;
    const pool = new AnyTlsSessionPool({ server: '127.0.0.1', port }, dialer, { ...options, ...more });
    pools.push(pool);
    return pool;
  }

  async function open(pool: AnyTlsSessionPool): Promise<AnyTlsStream> {
    const stream = new AnyTlsStream(await pool.acquire(context));
    stream.on('error', () => undefined);
    stream.resume();
    return stream;
  }

  async function connection(index = 0): Promise<Connection> {
    await expect.poll(() => connections.length).toBeGreaterThan(index);
    return connections[index] as Connection;
  }

  const textOf = (stream: ByteStream): Promise<string> => {
    let text = '';
    stream.on('data', (bytes) => (text += bytes.toString()));
    return new Promise((resolve) => stream.once('end', () => resolve(text)));
  };

  it('introduce themselves, padded, and open a stream with its first bytes', async () => {
    const stream = await open(newPool());
    stream.write(Buffer.from('hello'));
    const there = await connection();
    const [settings, opened, pushed] = await there.frames(3);
    expect(there.auth.subarray(0, 32).equals(createHash('sha256').update('secret').digest())).toBe(true);
    expect(there.auth.readUInt16BE(32)).toBe(30);
    expect(settings).toMatchObject({ command: COMMAND.settings, stream: 0 });
    expect(settings?.content).toContain(`padding-md5=${PaddingScheme.default.md5}`);
    expect(opened).toEqual({ command: COMMAND.open, stream: 1, content: '' });
    expect(pushed).toEqual({ command: COMMAND.push, stream: 1, content: 'hello' });
    expect(there.socket.bytesRead).toBeGreaterThanOrEqual(64 + 100);
  });

  it('carry one stream after another, and two at once in two', async () => {
    const pool = newPool();
    for (const id of [1, 2, 3]) {
      const stream = await open(pool);
      stream.write(Buffer.from('x'));
      const there = await connection();
      await expect.poll(() => there.seen.at(-1)).toEqual({ command: COMMAND.push, stream: id, content: 'x' });
      const text = textOf(stream);
      there.send(frame(COMMAND.push, id, Buffer.from('answer')), frame(COMMAND.finish, id));
      expect(await text).toBe('answer');
      const closed = once(stream, 'close');
      stream.end();
      await closed;
      await expect.poll(() => there.seen.at(-1)).toEqual({ command: COMMAND.finish, stream: id, content: '' });
    }
    expect(connections).toHaveLength(1);
    const [one, two] = [await open(pool), await open(pool)];
    for (const stream of [one, two]) stream.write(Buffer.from('x'));
    await connection(1);
  });

  it('are not reused if another outbound leads to the server', async () => {
    const { port } = server.address() as AddressInfo;
    const hop = new DirectOutbound('HOP', { resolve: () => Promise.resolve(['127.0.0.1']) });
    const node = { server: '127.0.0.1', port };
    const pool = new AnyTlsSessionPool(node, createChainDialer(fixedHop(hop)), options);
    pools.push(pool);
    for (const count of [1, 2]) {
      const stream = await open(pool);
      stream.write(Buffer.from('x'));
      await (await connection(count - 1)).frames(3);
      stream.destroy();
    }
    expect(connections).toHaveLength(2);
  });

  it('drop data for a stream that is closed', async () => {
    const pool = newPool();
    const first = await open(pool);
    first.write(Buffer.from('x'));
    first.destroy();
    const second = await open(pool);
    second.write(Buffer.from('y'));
    const there = await connection();
    await there.frames(5);
    const text = textOf(second);
    there.send(frame(COMMAND.push, 1, Buffer.from('old')), frame(COMMAND.push, 2, Buffer.from('new')));
    there.send(frame(COMMAND.finish, 1), frame(COMMAND.finish, 2));
    expect(await text).toBe('new');
    expect(connections).toHaveLength(1);
  });

  it('use the padding scheme of the server, also for later sessions', async () => {
    const scheme = 'stop=2\n0=50-50\n1=300-300';
    const pool = newPool();
    const stream = await open(pool);
    stream.write(Buffer.from('x'));
    const there = await connection();
    there.send(frame(COMMAND.paddingScheme, 0, Buffer.from('nonsense')));
    there.send(frame(COMMAND.paddingScheme, 0, Buffer.from(scheme)), frame(COMMAND.heartRequest, 7));
    await expect.poll(() => there.seen.some(({ command }) => command === COMMAND.heartResponse)).toBe(true);
    (await open(pool)).write(Buffer.from('y'));
    const other = await connection(1);
    const [settings] = await other.frames(3);
    expect(other.auth.readUInt16BE(32)).toBe(50);
    expect(settings?.content).toContain(createHash('md5').update(scheme).digest('hex'));
    await expect.poll(() => other.socket.bytesRead).toBe(34 + 50 + 300);
  });

  it('report to one stream why the server could not connect, and stay usable', async () => {
    const pool = newPool();
    const stream = await open(pool);
    stream.write(Buffer.from('x'));
    const failed = once(stream, 'error') as Promise<[Error]>;
    (await connection()).send(frame(COMMAND.opened, 1, Buffer.from('no\r\nroute')));
    expect((await failed)[0].message).toBe('the server could not connect: no  route');
    expect(stream.destroyed).toBe(true);
    (await open(pool)).write(Buffer.from('y'));
    await (await connection()).frames(6);
    expect(connections).toHaveLength(1);
  });

  it('end with the stream when the server alerts or leaves', async () => {
    for (const end of [
      (there: Connection) => there.send(frame(COMMAND.alert, 0, Buffer.from('go away'))),
      (there: Connection) => void there.socket.end(),
      (there: Connection) => void there.socket.resetAndDestroy(),
    ]) {
      const index = connections.length;
      const stream = await open(newPool());
      stream.write(Buffer.from('x'));
      const closed = new Promise<void>((resolve) => stream.once('close', resolve));
      const failed = once(stream, 'error');
      end(await connection(index));
      await failed;
      await closed;
    }
  });

  it('are not reused after the server has closed them', async () => {
    const pool = newPool();
    const stream = await open(pool);
    stream.write(Buffer.from('x'));
    const there = await connection();
    await there.frames(3);
    stream.destroy();
    const gone = once(there.socket, 'close');
    there.socket.end();
    await gone;
    await expect
      .poll(async () => {
        (await open(pool)).write(Buffer.from('y'));
        return connections.length;
      })
      .toBeGreaterThan(1);
  });

  it('fail if the server does not confirm a stream of a reused one', async () => {
    const pool = newPool();
    const first = await open(pool);
    first.write(Buffer.from('x'));
    const there = await connection();
    there.send(frame(COMMAND.serverSettings, 0, Buffer.from('v=2')), frame(COMMAND.push, 1, Buffer.from('.')));
    await once(first, 'data');
    first.destroy();
    const second = await open(pool);
    const failed = once(second, 'error') as Promise<[Error]>;
    second.write(Buffer.from('y'));
    expect((await failed)[0].message).toBe('the session is dead');
  });

  it('end after being idle for a while, and with their pool', async () => {
    const quick = await open(newPool({ idleMs: 20 }));
    quick.write(Buffer.from('x'));
    const first = await connection();
    await first.frames(3);
    quick.destroy();
    await once(first.socket, 'close');
    const pool = newPool();
    const [idle, busy] = [await open(pool), await open(pool)];
    for (const stream of [idle, busy]) stream.write(Buffer.from('x'));
    const [second, third] = [await connection(1), await connection(2)];
    await Promise.all([second.frames(3), third.frames(3)]);
    idle.destroy();
    pool.close();
    await Promise.race([once(second.socket, 'close'), once(third.socket, 'close')]);
    expect(busy.destroyed).toBe(false);
    busy.destroy();
    await expect.poll(() => second.socket.destroyed && third.socket.destroyed).toBe(true);
  });

  it('hold back the server while the stream is not read', async () => {
    const stream = await open(newPool());
    stream.write(Buffer.from('x'));
    const there = await connection();
    await there.frames(3);
    stream.pause();
    const chunk = frame(COMMAND.push, 1, Buffer.alloc(60_000));
    let sent = 0;
    while (there.socket.write(chunk)) sent += 1;
    for (let more = 0; more < 400; more += 1) there.socket.write(chunk);
    await new Promise((resolve) => setImmediate(resolve));
    expect(there.socket.writableLength).toBeGreaterThan(0);
    let received = 0;
    stream.on('data', (bytes: Buffer) => (received += bytes.length));
    stream.resume();
    await expect.poll(() => received).toBe((sent + 401) * 60_000);
  });
});
