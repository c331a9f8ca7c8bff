import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { resetStream } from '@gatehouse/net';
import { CERTIFICATE, PRIVATE_KEY } from './tls-identity.js';

/** Chance that can be repeated: the same seed, the same choices (mulberry32). */
export class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** 0 to `limit - 1`. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!;
  }

  bytes(most: number): Buffer {
    return Buffer.from(Array.from({ length: this.below(most + 1) }, () => this.below(256)));
  }

  /** With a few bytes changed, cut off, doubled or put in. */
  spoil(bytes: Buffer): Buffer {
    const spoilt = Buffer.from(bytes);
    for (let count = this.below(4); count > 0 && spoilt.length > 0; count -= 1) {
      spoilt[this.below(spoilt.length)] = this.pick([0, 1, 0x7f, 0x80, 0xff, this.below(256)]);
    }
    const at = this.below(spoilt.length + 1);
    return this.pick([
      spoilt,
      spoilt.subarray(0, at),
      Buffer.concat([spoilt, spoilt]),
      Buffer.concat([spoilt.subarray(0, at), this.bytes(300), spoilt.subarray(at)]),
    ]);
  }
}

const text = (value: string): Buffer => Buffer.from(value, 'latin1');
const frame = (type: number, flags: number, stream: number, content: Buffer): Buffer => {
  const head = Buffer.alloc(9);
  head.writeUIntBE(content.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, content]);
};

/** What servers say, well-formed and not: origins, nodes of every protocol. */
export const SERVER_WORDS: readonly Buffer[] = [
  ...['000 x', '099 x', '999 x', '200 \u0001', '200 \u0000', '204 x', '304 x', '101 x', '100 x', '103 x', '200'].map(
    (status) => text(`HTTP/1.1 ${status}\r\nContent-Length: 3\r\n\r\nabc`),
  ),
  text('HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
  text('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nzz\r\n'),
  text('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: a\r\n\r\n1\r\nx\r\n0\r\na\u0001: b\r\n\r\n'),
  text('HTTP/1.1 103 Early Hints\r\nLink: nonsense\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
  text('HTTP/1.1 407 x\r\n\r\n'),
  text(`HTTP/1.1 200 OK\r\nX: ${'a'.repeat(70_000)}\r\n\r\n`),
  text('HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n'),
  // HTTP/2: settings of no streams, of huge windows and frames, a stream that nobody opened, GOAWAY, a window over its limit.
  frame(4, 0, 0, Buffer.from([0, 3, 0, 0, 0, 0])),
  frame(4, 0, 0, Buffer.from([0, 4, 0x7f, 0xff, 0xff, 0xff, 0, 5, 0, 0xff, 0xff, 0xff])),
  Buffer.concat([frame(4, 0, 0, Buffer.alloc(0)), frame(1, 4, 1, Buffer.from([0x88]))]),
  Buffer.concat([
    frame(4, 0, 0, Buffer.alloc(0)),
    frame(0, 0, 1, Buffer.alloc(9, 0xff)),
    frame(3, 0, 1, Buffer.alloc(4, 9)),
  ]),
  Buffer.concat([frame(4, 0, 0, Buffer.alloc(0)), frame(7, 0, 0, Buffer.alloc(8))]),
  Buffer.concat([frame(4, 0, 0, Buffer.alloc(0)), frame(8, 0, 0, Buffer.from([0x7f, 0xff, 0xff, 0xff]))]),
  // SOCKS5: methods, replies with addresses of every type.
  Buffer.from([5, 0]),
  Buffer.from([5, 2, 1, 0]),
  Buffer.from([5, 0, 5, 0, 0, 1, 127, 0, 0, 1, 0, 9]),
  Buffer.concat([Buffer.from([5, 0, 5, 0, 0, 3, 255]), Buffer.alloc(255, 0xff), Buffer.from([0, 0])]),
  Buffer.from([5, 0xff]),
  // WebSocket frames, AnyTLS frames, an SSH greeting, a TLS alert.
  Buffer.concat([
    text('HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'),
    Buffer.from([0x82, 127, 255, 255]),
  ]),
  Buffer.from([0x88, 0, 0x89, 0, 0x8a, 0, 0x83, 0]),
  Buffer.from([2, 0, 0, 0, 1, 0, 4, 1, 2, 3, 4, 10, 0, 0, 0, 0, 0, 3, 118, 61, 50]),
  text('SSH-2.0-x\r\n'),
  Buffer.from([21, 3, 3, 0, 2, 2, 40]),
  Buffer.alloc(0),
];

/** What clients say to a proxy. `host`: where they want to go. */
export function clientWords(host: string, port: number): Buffer[] {
  const name = text(host);
  const end = Buffer.from([port >> 8, port & 255]);
  const get = text(`GET http://${host}:${port}/ HTTP/1.1\r\nHost: a\r\n\r\n`);
  return [
    get,
    Buffer.concat([get, get, get]),
    text(
      `POST http://${host}:${port}/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n`,
    ),
    text(`POST http://${host}:${port}/ HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\nbody`),
    text(`GET http://${host}:${port}/ HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nframes`),
    Buffer.concat([get, text(`CONNECT ${host}:${port} HTTP/1.1\r\nHost: a\r\n\r\nhello`)]),
    text(`CONNECT ${host}:${port} HTTP/1.1\r\nHost: a\r\n\r\nhello`),
    Buffer.concat([Buffer.from([5, 1, 0, 5, 1, 0, 3, name.length]), name, end, text('hello')]),
    Buffer.concat([Buffer.from([5, 2, 0, 2, 5, 1, 0, 1, 127, 0, 0, 1]), end, text('hello')]),
    Buffer.concat([Buffer.from([4, 1]), end, Buffer.from([0, 0, 0, 1, 97, 0]), name, Buffer.from([0]), text('hello')]),
    Buffer.from([5, 1, 0, 5, 3, 0, 1, 0, 0, 0, 0, 0, 0]),
  ];
}

/** Ends a connection in one of the ways there are, or leaves it. */
function part(socket: Socket, chance: Chance): void {
  const ways = [() => socket.end(), () => socket.destroy(), () => resetStream(socket), () => undefined];
  chance.pick(ways)();
}

/** Meets a connection with words of a server, spoilt or not, at once or after something came, and parts. */
export function meet(socket: Socket, chance: Chance): void {
  socket.on('error', () => undefined);
  const speak = (): void => {
    if (socket.destroyed) return;
    const word = chance.pick([chance.pick(SERVER_WORDS), chance.spoil(chance.pick(SERVER_WORDS)), chance.bytes(3000)]);
    if (chance.below(4) === 0) for (const byte of word.subarray(0, 40)) socket.write(Buffer.from([byte]));
    else socket.write(word);
    if (chance.below(2) === 0) part(socket, chance);
  };
  if (chance.below(6) === 0) return part(socket, chance);
  if (chance.below(3) === 0) speak();
  socket.on('data', () => chance.below(3) > 0 && speak());
}

export interface HostileServers {
  /** Of TCP, of TLS with `tls-identity`, of UDP. */
  ports: { tcp: number; tls: number; udp: number };
  close(): void;
}

/** Servers that call `meet` with each client. */
export async function startHostileServers(chance: Chance): Promise<HostileServers> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket.on('error', () => undefined));
    socket.on('close', () => sockets.delete(socket));
  };
  const listen = async (server: Server): Promise<number> => {
    server.on('connection', keep).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const tcp = createServer({ allowHalfOpen: true }, (socket) => meet(socket, chance));
  const tls = createTlsServer({ cert: CERTIFICATE, key: PRIVATE_KEY, ALPNProtocols: ['h2', 'http/1.1'] }, (socket) =>
    meet(socket, chance),
  );
  tls.on('tlsClientError', () => undefined);
  const udp = createSocket('udp4');
  udp.on('message', (bytes, from) => {
    for (let count = chance.below(4); count > 0; count -= 1) {
      const answer = chance.pick([chance.spoil(bytes), chance.bytes(600), nameOf(chance, bytes)]);
      udp.send(answer, from.port, from.address, () => undefined);
    }
  });
  udp.bind(0, '127.0.0.1');
  await once(udp, 'listening');
  const ports = { tcp: await listen(tcp), tls: await listen(tls), udp: udp.address().port };
  const close = (): void => {
    for (const socket of sockets) socket.destroy();
    tcp.close();
    tls.close();
    udp.close();
  };
  return { ports, close };
}

/** A SOCKS datagram from what may be no name. */
function nameOf(chance: Chance, payload: Buffer): Buffer {
  const name = chance.pick([Buffer.alloc(255, 0xff), Buffer.alloc(0), Buffer.alloc(255, 97), chance.bytes(255)]);
  return Buffer.concat([Buffer.from([0, 0, 0, 3, name.length]), name, Buffer.from([0, 9]), payload]);
}

/** A client that says words of one, whole, spoilt or in pieces, and parts. Resolves when it has gone. */
export async function visit(proxyPort: number, words: readonly Buffer[], chance: Chance): Promise<void> {
  const socket = connect({ port: proxyPort, host: '127.0.0.1', allowHalfOpen: true });
  const closed = new Promise<void>((resolve) => socket.on('error', () => undefined).once('close', () => resolve()));
  const word = chance.pick([
    chance.pick(words),
    chance.pick(words),
    chance.spoil(chance.pick(words)),
    chance.bytes(2000),
  ]);
  const cut = chance.below(word.length + 1);
  socket.write(word.subarray(0, cut));
  const leaveAfter = chance.below(6);
  let received = 0;
  socket.on('data', () => {
    received += 1;
    if (received === 1) socket.write(chance.bytes(500));
    if (received > leaveAfter) part(socket, chance);
  });
  await new Promise((resolve) => setTimeout(resolve, chance.below(20)));
  if (!socket.destroyed) socket.write(word.subarray(cut));
  await new Promise((resolve) => setTimeout(resolve, chance.below(120)));
  chance.pick([() => socket.destroy(), () => resetStream(socket)])();
  await closed;
}
