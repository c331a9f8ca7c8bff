import { randomInt } from 'node:crypto';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, TLSSocket } from 'node:tls';
import { maskedWebSocketFrame } from '@gatehouse/net';
import type { ChannelTicket, Message } from '../src/wire/messages.js';
import { decodeMessage, encodeMessage, frameLimit } from '../src/wire/codec.js';
import { encodeFrame, FrameDecoder } from '../src/wire/frame.js';
import { muxHeader } from '../src/mux/mux-frames.js';
import { encodeOpening, encodeStart, type Start } from '../src/wire/prelude.js';
import { encodeRendezvous } from '../src/wire/rendezvous.js';
import { channelKeys, RecordSealer } from '../src/wire/sealed-records.js';
import type { ServerIdentity } from '../src/wire/server-identity.js';
import { encodeVisit } from '../src/wire/visit.js';
import { upgradeRequest } from '../src/websocket/handshake.js';

/** From 0 to below 1. The same seed gives the same attacks. */
export type Random = () => number;

/** Mulberry32. */
export function seededRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const HOST = '127.0.0.1';
/** A peer that keeps an attack open is left after this. */
const ATTACK_MS = 400;
const quiet = (): void => undefined;

const below = (random: Random, limit: number): number => Math.floor(random() * limit);
const pick = <T>(random: Random, values: readonly T[]): T => values[below(random, values.length)] as T;
const bytes = (random: Random, most: number): Buffer =>
  Buffer.from(Array.from({ length: below(random, most) + 1 }, () => below(random, 256)));

/** `whole` as it is, cut, lengthened or with a changed byte. */
function spoilt(random: Random, whole: Buffer): Buffer {
  const copy = Buffer.from(whole);
  const kind = below(random, 4);
  if (kind === 0) copy[below(random, copy.length)] = below(random, 256);
  if (kind === 1) return copy.subarray(0, below(random, copy.length));
  if (kind === 2) return Buffer.concat([copy, bytes(random, 64)]);
  return copy;
}

const hexId = (random: Random): string =>
  Buffer.from(Array.from({ length: 16 }, () => below(random, 256))).toString('hex');

/** What an agent may say, and what only a server may. */
function messages(random: Random, secret: string): Message[] {
  const id = hexId(random);
  const place = { address: pick(random, ['127.0.0.1', '::1', 'nowhere', '']), port: 1 + below(random, 65_535) };
  const number = pick(random, [0, 1, 7, 2 ** 31, Number.MAX_SAFE_INTEGER]);
  return [
    { type: 'auth', versions: [pick(random, [0, 1, 2])], secret, agentId: id, epoch: number, software: 'hostile' },
    { type: 'refused', kind: pick(random, ['tunnel', 'host']), id: number, channel: id, reason: 'refused' },
    { type: 'leaving' },
    { type: 'pathState', id, state: pick(random, ['refused', 'open', 'over']) },
    { type: 'carried', id, upload: 2 ** 46, download: 2 ** 46, connections: 65_536 },
    { type: 'ping', sequence: below(random, 2 ** 32) },
    { type: 'pong', sequence: below(random, 2 ** 32) },
    { type: 'welcome', version: 1, clientId: number, heartbeatMs: 1 + below(random, 1000), encrypt: random() < 0.5 },
    { type: 'move', spreadMs: below(random, 100) },
    { type: 'rendezvous', id, tunnelId: 7, visitor: place, token: pick(random, ['x', 'A'.repeat(43)]) },
    { type: 'rendezvousEnd', id, graceMs: below(random, 100) },
    { type: 'close', code: 'kicked', message: 'hostile', retryAfterMs: 0 },
    hostileConfig(random),
    { type: 'channels', tickets: Array.from({ length: 1 + below(random, 8) }, () => ticket(random)) },
  ];
}

function ticket(random: Random): ChannelTicket {
  const part = (length: number): Buffer => Buffer.from(Array.from({ length }, () => below(random, 256)));
  return { id: part(16), key: part(32) };
}

function hostileConfig(random: Random): Message {
  const text = (): string => pick(random, ['', '127.0.0.1', '\0', 'x'.repeat(250), '../..', '[::1]', '\ud800']);
  const targets = [{ host: text(), port: 1 + below(random, 65_535), weight: 1 + below(random, 1000) }];
  const mode = pick(random, ['tcp', 'udp', 'file', 'socks5', 'http_proxy', 'p2p', 'unheard of']);
  const file = random() < 0.5 ? { path: `/${text()}`, readOnly: random() < 0.5, stripPrefix: text() } : null;
  const tunnel = {
    id: 7,
    mode,
    entrance: text(),
    targets,
    proxyProtocol: below(random, 3),
    destinations: [text()],
    file,
  };
  return { type: 'config', revision: below(random, 100), tunnels: [tunnel], hosts: [{ id: 7, name: text(), targets }] };
}

/** Frames of a control connection, most of them wrong in one way. */
function controlBytes(random: Random, secret: string): Buffer {
  const kind = below(random, 5);
  if (kind === 0) return encodeFrame(below(random, 256), bytes(random, 3000));
  if (kind === 1) return Buffer.of(below(random, 256), 0xff, 0xff, 0xff, ...bytes(random, 20));
  if (kind === 2) return bytes(random, 200);
  return spoilt(random, encodeMessage(pick(random, messages(random, secret))));
}

function startBytes(random: Random, { key }: ChannelTicket): Buffer {
  const place = { address: pick(random, ['127.0.0.1', '', '::1']), port: below(random, 65_536) };
  const start: Start = {
    kind: pick(random, ['tunnel', 'host', 'datagrams']),
    id: pick(random, [0, 7, Number.MAX_SAFE_INTEGER]),
    target: pick(random, [null, 0, 200]),
    destination: pick(random, ['', '127.0.0.1:1', 'nowhere', ':', 'x'.repeat(255)]),
    wantsAnswer: random() < 0.5,
    framed: random() < 0.5,
    reused: random() < 0.5,
    longRecords: random() < 0.5,
    visitor: place,
    entrance: place,
  };
  return encodeStart(start, key, pick(random, [0, 0, 0, 1]));
}

/** What follows the opening of a data channel, from either side. */
function channelBytes(random: Random, one: ChannelTicket, side: 'agent' | 'server'): Buffer[] {
  const plain = [startBytes(random, one), Buffer.alloc(below(random, 9)), bytes(random, 300), Buffer.of(0, 0, 5, 1, 2)];
  if (random() < 0.5) return plain.map((part) => spoilt(random, part.length > 0 ? part : Buffer.of(0)));
  const sealer = new RecordSealer(channelKeys(one)[side]);
  return plain.map((part) => spoilt(random, Buffer.concat(sealer.seal(part))));
}

/** Ends a connection in one of the ways in which connections end. */
function endSomehow(random: Random, socket: Socket): void {
  const kind = below(random, 3);
  if (kind === 0) socket.end();
  else if (kind === 1 && !(socket instanceof TLSSocket)) socket.resetAndDestroy();
  else if (kind === 2) socket.destroy();
}

/** Writes, as a whole or a few bytes at a time. */
async function say(random: Random, socket: Socket, whole: Buffer): Promise<void> {
  if (socket.destroyed || socket.writableEnded) return;
  if (whole.length > 400 || random() < 0.8) return void socket.write(whole);
  const step = 1 + below(random, 40);
  for (let at = 0; at < whole.length && socket.writable; at += step) {
    socket.write(whole.subarray(at, at + step));
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function over(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    if (socket.destroyed) return resolve();
    const timer = setTimeout(() => socket.destroy(), ATTACK_MS);
    socket.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

export interface AgentPort {
  port: number;
  /** A valid key, for attacks of an admitted agent. Absent: no agent is admitted. */
  secret?: string;
}

type Attack = (port: AgentPort, random: Random) => Promise<Socket>;

function reach(port: number): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect({ host: HOST, port });
    socket.on('error', quiet).resume();
    socket.once('connect', () => resolve(socket)).once('close', () => resolve(socket));
  });
}

async function reachTls(port: number, protocol: string): Promise<TLSSocket> {
  const secured = connectTls({ host: HOST, port, rejectUnauthorized: false, ALPNProtocols: [protocol] });
  secured.on('error', quiet);
  await new Promise((resolve) => secured.once('secureConnect', resolve).once('close', resolve));
  return secured;
}

/** Attacks on the port for agents. Each answers the connection that it was made by, which may still be open. */
const ATTACKS: Readonly<Record<string, Attack>> = {
  async garbage({ port }, random) {
    const socket = await reach(port);
    await say(random, socket, Buffer.concat([Buffer.of(pick(random, [22, 0x47, 0, 255])), bytes(random, 300)]));
    return socket;
  },
  async channel({ port }, random) {
    const [socket, one] = [await reach(port), ticket(random)];
    await say(random, socket, spoilt(random, encodeOpening(one, random() < 0.5)));
    for (const part of channelBytes(random, one, 'agent')) await say(random, socket, part);
    return socket;
  },
  async websocket({ port }, random) {
    const socket = await reach(port);
    const { head } = upgradeRequest({ secure: false, host: HOST, port, path: '/__gw/agent' });
    await say(random, socket, spoilt(random, Buffer.from(head)));
    for (let count = 0; count < 5; count++) {
      const payload = bytes(random, 200);
      const mux = Buffer.concat([muxHeader(below(random, 8), payload.length, below(random, 4)), payload]);
      await say(random, socket, spoilt(random, maskedWebSocketFrame(pick(random, [0, 1, 2, 8, 9]), [mux])));
    }
    return socket;
  },
  async control({ port, secret = 'nobody' }, random) {
    const socket = (await reachTls(port, 'gwt/1')).resume();
    for (let count = 0; count < 4; count++) await say(random, socket, controlBytes(random, secret));
    return socket;
  },
  async agent({ port, secret = 'nobody' }, random) {
    const socket = await reachTls(port, 'gwt/1');
    await authenticate(socket, { port, secret }, random);
    for (let count = 0; count < 6; count++) await say(random, socket, controlBytes(random, secret));
    return socket;
  },
  async visitor({ port, secret = 'x' }, random) {
    const socket = (await reachTls(port, 'gwv/1')).resume();
    const purpose = pick(random, ['connection', 'rendezvous'] as const);
    await say(random, socket, spoilt(random, encodeVisit({ purpose, tunnelId: 7, secret: secret.padEnd(43, 'x') })));
    await say(random, socket, bytes(random, 200));
    return socket;
  },
  async mapping({ port }, random) {
    const socket = (await reachTls(port, 'gwr/1')).resume();
    const said = { id: hexId(random), local: { address: '127.0.0.1', port: 1 }, fingerprint: 'f', proof: 'p' };
    await say(random, socket, spoilt(random, encodeRendezvous(said)));
    return socket;
  },
};

/** Opens channels with the tickets that it gets, and does on them what no agent does. */
async function authenticate(socket: Socket, { port, secret = '' }: AgentPort, random: Random): Promise<void> {
  const decoder = new FrameDecoder((type) => frameLimit(type, 'server'));
  socket.on('data', (chunk: Buffer) => {
    for (const frame of decoder.read(chunk)) {
      const message = decodeMessage(frame, 'server');
      if (message?.type !== 'channels') continue;
      for (const one of message.tickets.slice(0, 2)) void misuse(port, one, random);
    }
  });
  const agentId = hexId(random);
  await say(
    random,
    socket,
    encodeMessage({ type: 'auth', versions: [1], secret, agentId, epoch: 1, software: 'hostile' }),
  );
}

async function misuse(port: number, one: ChannelTicket, random: Random): Promise<void> {
  const socket = await reach(port);
  await say(random, socket, encodeOpening(one, random() < 0.5));
  for (const part of channelBytes(random, one, 'agent')) await say(random, socket, part);
  endSomehow(random, socket);
  await over(socket);
}

export const AGENT_PORT_ATTACKS = Object.keys(ATTACKS);

/**
 * One attack on the port for agents of this machine, which `random` chooses. Answers its name when its connection is over.
 * Wrong bytes, cut and overlong messages, values at their limits, a few bytes at a time, and an end at any step.
 */
export async function attackAgentPort(target: AgentPort, random: Random): Promise<string> {
  const name = pick(random, AGENT_PORT_ATTACKS);
  const socket = await (ATTACKS[name] as Attack)(target, random);
  endSomehow(random, socket);
  await over(socket);
  return name;
}

/** A server that has the key which agents pinned, and is hostile. */
export class HostileServer {
  /** Connections of agents so far. */
  connections = 0;
  private readonly random: Random;
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private readonly tickets: ChannelTicket[] = [];

  constructor({ key, certificate }: ServerIdentity, random: Random) {
    this.random = random;
    const secureContext = createSecureContext({ key, cert: certificate });
    this.server = createServer({ pauseOnConnect: true }, (socket) => {
      this.connections += 1;
      this.sockets.add(socket.on('error', quiet).on('close', () => this.sockets.delete(socket)));
      setTimeout(() => socket.destroy(), ATTACK_MS).unref();
      socket.once('readable', () => {
        const first = socket.read(1) as Buffer | null;
        if (!first) return socket.destroy();
        socket.unshift(first);
        if (first[0] !== 22) return void this.ruinChannel(socket);
        const secured = new TLSSocket(socket, {
          isServer: true,
          secureContext,
          ALPNProtocols: ['gwt/1', 'gwv/1', 'gwr/1'],
        });
        secured.on('error', quiet).resume();
        secured.once('secure', () => void this.ruinControl(secured));
      });
    });
  }

  /** Answers the port. */
  async listen(): Promise<number> {
    this.server.listen(0, HOST);
    await new Promise((resolve) => this.server.once('listening', resolve));
    return (this.server.address() as { port: number }).port;
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private async ruinControl(socket: TLSSocket): Promise<void> {
    const { random } = this;
    const welcome = { type: 'welcome', version: 1, clientId: 1, heartbeatMs: 1000, encrypt: random() < 0.5 } as const;
    const tickets = Array.from({ length: 4 }, () => ticket(random));
    this.tickets.splice(0, Number.POSITIVE_INFINITY, ...tickets);
    await say(random, socket, random() < 0.8 ? encodeMessage(welcome) : spoilt(random, encodeMessage(welcome)));
    await say(random, socket, encodeMessage(hostileConfig(random)));
    await say(random, socket, encodeMessage({ type: 'channels', tickets }));
    for (let count = 0; count < 5; count++) await say(random, socket, this.orders());
    endSomehow(random, socket);
  }

  /** Without the attacks that would end the agent permanently. */
  private orders(): Buffer {
    const { random } = this;
    const some = messages(random, '').filter(({ type }) => type !== 'auth' && type !== 'welcome');
    return random() < 0.5 ? encodeMessage(pick(random, some)) : controlBytes(random, '');
  }

  private async ruinChannel(socket: Socket): Promise<void> {
    const { random } = this;
    socket.resume();
    const one = this.tickets.length > 0 ? pick(random, this.tickets) : ticket(random);
    for (const part of channelBytes(random, one, 'server')) await say(random, socket, part);
    endSomehow(random, socket);
  }
}

/** A seed for a long run; a failure names it. */
export function newSeed(): number {
  return randomInt(2 ** 31);
}
