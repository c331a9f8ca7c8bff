/** What a stranger may send to a tunnel server or its agents. */
import { createHmac } from 'node:crypto';
import { EventEmitter } from 'node:events';
import {
  encodeSocksAddress,
  hostField,
  readHeaderLine,
  sniffHttpHost,
  sniffTlsServerName,
  maskedWebSocketFrame,
  WebSocketError,
  webSocketFrame,
  WebSocketFrameReader,
  type ByteStream,
} from '@gatehouse/net';
import {
  formatWebSocketAddress,
  openingWorker,
  parseWebSocketAddress,
  readAuthority,
  readRouteTag,
  routeTagOf,
  TunnelError,
  wireParts as wire,
} from '@gatehouse/tunnel-kernel';
import type { FuzzTarget } from './fuzz-target.js';

const SEALED_TEXTS = ['hello', 'a longer text '.repeat(20)];
const END = Buffer.from('the end');
const KEY = Buffer.alloc(32, 5);
const TAG_BYTES = 16;
const ENDS = [
  { address: '192.0.2.1', port: 1234 },
  { address: '2001:db8::1', port: 443 },
] as const;

function allowed(run: () => unknown): void {
  try {
    run();
  } catch (error) {
    if (!(error instanceof TunnelError) && !(error instanceof WebSocketError)) throw error;
  }
}

/** Whether it is done without an error. */
function attempt(run: () => unknown): boolean {
  try {
    run();
    return true;
  } catch {
    return false;
  }
}

function check(holds: boolean, what: string): void {
  if (!holds) throw new Error(`broken promise: ${what}`);
}

/** In pieces whose lengths the input itself decides. */
function* pieces(input: Buffer): Generator<Buffer> {
  for (let at = 0; at < input.length;) {
    const length = 1 + ((input[at] as number) & 0x3f);
    yield Buffer.from(input.subarray(at, at + length));
    at += length;
  }
}

/** A transport that only delivers. */
class Deliverer extends EventEmitter {
  destroyed = false;
  readableEnded = false;
  writableLength = 0;
  readonly held: Buffer[] = [];
  write = (): boolean => true;
  end = (): void => undefined;
  pause = (): void => undefined;
  resume = (): void => undefined;
  cork = (): void => undefined;
  uncork = (): void => undefined;
  unshift = (chunk: Uint8Array): void => void this.held.push(Buffer.from(chunk));
  destroy = (): void => void (this.destroyed = true);
}

function readControl(input: Buffer, from: wire.Side): void {
  const decoder = new wire.FrameDecoder((type) => wire.frameLimit(type, from));
  for (const piece of pieces(input)) {
    for (const frame of decoder.read(piece)) {
      const message = wire.decodeMessage(frame, from);
      if (!message) continue;
      const written = wire.encodeMessage(message);
      const again = wire.decodeMessage({ type: written[0] as number, body: written.subarray(4) }, from);
      check(JSON.stringify(again) === JSON.stringify(message), 'a message reads back');
    }
  }
}

const START = {
  kind: 'tunnel',
  id: 7,
  target: null,
  destination: 'a.example:80',
  wantsAnswer: true,
  framed: true,
  reused: true,
  longRecords: true,
  visitor: ENDS[0],
  entrance: ENDS[1],
} as const;

const OPEN = wire.muxHeader(wire.MUX_FRAME.open, 0, 1);
const MUX_SEEDS = [
  Buffer.concat([
    OPEN,
    wire.muxHeader(wire.MUX_FRAME.data, 5, 1),
    Buffer.from('hello'),
    wire.muxHeader(wire.MUX_FRAME.end, 0, 1),
  ]),
  Buffer.concat([OPEN, wire.muxHeader(wire.MUX_FRAME.open, 0, 2), wire.muxNumber(wire.MUX_FRAME.window, 2, 100_000)]),
  Buffer.concat([wire.muxNumber(wire.MUX_FRAME.ping, 0, 1), OPEN, wire.muxHeader(wire.MUX_FRAME.reset, 0, 1)]),
];

/** Echoes every second stream, lets the others stand. */
function runMux(input: Buffer): void {
  let handlers: wire.MuxTransportHandlers | null = null;
  let sent = 0;
  const connection = new wire.MuxConnection(
    {
      writableLength: 0,
      start: (given) => (handlers = given),
      send: (parts) => ((sent += parts.reduce((sum, part) => sum + part.length, 0)), true),
      close: () => undefined,
      destroy: () => undefined,
    },
    {
      onStream: (stream) => {
        if (stream.id % 2 === 0) return;
        stream.widen();
        stream.on('data', (part) => void stream.write(part));
        stream.on('end', () => stream.end());
        stream.resume();
      },
    },
  );
  for (const piece of pieces(input)) (handlers as wire.MuxTransportHandlers | null)?.data(piece);
  (handlers as wire.MuxTransportHandlers | null)?.closed(new TunnelError('stopped', 'the input is over'));
  check(sent <= 3 * input.length + 64 * 1024, 'an answer is no longer than what it answers');
  check(connection.size === 0, 'no stream outlives its connection');
}

function runFramedStream(input: Buffer): void {
  const inner = new Deliverer();
  const stream = new wire.FramedStream(inner as unknown as ByteStream);
  let bytes = 0;
  stream.on('error', () => undefined);
  stream.on('data', (part) => {
    bytes += part.length;
    if (part.length % 7 === 0) stream.pause();
  });
  stream.resume();
  for (const piece of pieces(input)) {
    inner.emit('data', piece);
    stream.resume();
  }
  inner.emit('end');
  check(bytes <= input.length, 'no bytes of its own');
}

const SEALING = wire.channelKeys({ id: Buffer.alloc(16, 1), key: KEY });

/** What a transport delivers where a sealed stream is expected: nothing that was not sealed comes out, in any order. */
function runSealedStream(input: Buffer): void {
  const inner = new Deliverer();
  const stream = new wire.SealedStream(inner as unknown as ByteStream, SEALING, 'server');
  const opened: Buffer[] = [];
  stream.on('data', (part) => {
    opened.push(Buffer.from(part));
    if (part.length % 7 === 0) stream.pause();
  });
  stream.on('end', () => opened.push(END));
  stream.resume();
  for (const piece of pieces(input)) {
    inner.emit('data', piece);
    stream.resume();
  }
  inner.emit('end');
  const whole = [...SEALED_TEXTS.map((text) => Buffer.from(text)), END];
  check(
    opened.every((part, index) => part.equals(whole[index] as Buffer)),
    'what comes out was sealed for this place',
  );
  check(opened.length === whole.length || inner.destroyed, 'a stream without its end is given up');
}

/** The server's end of a channel that carries one visitor after the other; answers the bytes of each. */
function runKept(
  input: Buffer,
  first: wire.ReusableChannelStream,
  next: (before: wire.ReusableChannelStream) => wire.ReusableChannelStream,
): Buffer[] {
  const { inner } = first as unknown as { inner: Deliverer };
  const visitors: Buffer[] = [];
  const carry = (stream: wire.ReusableChannelStream): void => {
    const at = visitors.push(Buffer.alloc(0)) - 1;
    let isFree = false;
    stream.on('data', (part) => {
      check(!isFree, 'nothing comes to a visitor who is gone');
      visitors[at] = Buffer.concat([visitors[at] as Buffer, part]);
      if (part.length % 7 === 0) stream.pause();
    });
    stream.on('end', () => stream.end());
    const free = (): void => {
      check(!isFree, 'a channel is free once');
      isFree = true;
      carry(next(stream));
    };
    stream.reuseWith({ side: 'server', readyMs: 60_000, wanted: () => true, free });
    stream.resume();
    current = stream;
  };
  let current = first;
  carry(first);
  for (const piece of pieces(input)) {
    if (inner.destroyed) break;
    inner.emit('data', piece);
    current.resume();
  }
  inner.emit('close');
  return visitors;
}

/** What frames say, read a second time: the bytes of each visitor, the last of which may be going on. */
function visitorsOf(input: Buffer): Buffer[] {
  const visitors: Buffer[][] = [[]];
  for (let at = 0; at + 3 <= input.length;) {
    const length = input.readUIntBE(at, 3);
    at += 3;
    if (length > 0) visitors.at(-1)?.push(input.subarray(at, at + length));
    else if (input[at++] === 0) visitors.push([]);
    else break;
    at += length;
  }
  return visitors.map((parts) => Buffer.concat(parts));
}

function runKeptFrames(input: Buffer): void {
  const inner = new Deliverer() as unknown as ByteStream;
  const visitors = runKept(input, new wire.FramedStream(inner), () => new wire.FramedStream(inner));
  const said = visitorsOf(input);
  check(visitors.length <= said.length, 'no visitor before the one before is gone');
  for (const [index, bytes] of visitors.entries()) {
    const whole = said[index] as Buffer;
    check(whole.subarray(0, bytes.length).equals(bytes), 'to each visitor what was said to it');
    check(index === visitors.length - 1 || whole.length === bytes.length, 'all of it to who is gone');
  }
}

/** Nothing that was sealed for one visitor comes to another. */
function runKeptRecords(input: Buffer): void {
  const inner = new Deliverer() as unknown as ByteStream;
  const first = new wire.SealedStream(inner, SEALING, 'server');
  const visitors = runKept(input, first, (before) => (before as wire.SealedStream).next());
  check(visitors.length <= SEALED_TEXTS.length + 1, 'no visitor whom nobody sealed');
  for (const [index, bytes] of visitors.entries()) {
    const whole = Buffer.from(SEALED_TEXTS[index] ?? '');
    check(bytes.length === 0 || whole.equals(bytes), 'to each visitor what was sealed for it');
    check(index === visitors.length - 1 || whole.length === bytes.length, 'all of it to who is gone');
  }
}

function runWebSocket(input: Buffer, masked: boolean): void {
  let bytes = 0;
  const reader = new WebSocketFrameReader(
    { masked, text: input.length % 2 === 0 },
    {
      data: (part) => (bytes += part.length),
      control: (_, payload) => (bytes += payload.length),
    },
  );
  allowed(() => {
    for (const piece of pieces(input)) reader.read(piece);
  });
  check(bytes <= input.length, 'no bytes of its own');
}

function runDatagrams(input: Buffer): void {
  const read = (_: number, body: Buffer): void => {
    allowed(() => wire.datagramSession(body));
    allowed(() => wire.decodeDatagramOpening(body));
    allowed(() => check(wire.decodeDatagramAddress(body).end <= body.length, 'an address ends within its frame'));
  };
  allowed(() => wire.readDatagramFrames(input, read));
  const cutter = new wire.FrameCutter(read);
  allowed(() => {
    for (const piece of pieces(input)) cutter.read(piece);
  });
}

/** Bytes behind their length. */
function vector(lengthBytes: number, ...parts: (string | Buffer)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  const length = Buffer.alloc(lengthBytes);
  length.writeUIntBE(body.length, 0, lengthBytes);
  return Buffer.concat([length, body]);
}

/** With a name and a tag, in records of `size` bytes at most. */
function clientHello(size: number): Buffer {
  const name = vector(2, vector(2, Buffer.of(0), vector(2, 'a.example')));
  const protocols = vector(2, vector(2, vector(1, 'gwt/1'), vector(1, 'gwk/0a1b')));
  const extensions = vector(2, Buffer.of(0, 0), name, Buffer.of(0, 16), protocols);
  const start = Buffer.concat([Buffer.of(3, 3), Buffer.alloc(32, 7)]);
  const body = vector(3, start, vector(1), vector(2, Buffer.of(0x13, 1)), vector(1, Buffer.of(0)), extensions);
  const message = Buffer.concat([Buffer.of(1), body]);
  const records: Buffer[] = [];
  for (let at = 0; at < message.length; at += size) {
    records.push(Buffer.of(22, 3, 1), vector(2, message.subarray(at, at + size)));
  }
  return Buffer.concat(records);
}

const UPGRADE = wire.upgradeRequest({ secure: true, host: 'gw.example', port: 443, path: '/__gw/agent' });

function runHandshake(input: Buffer): void {
  const text = input.toString('latin1');
  allowed(() => wire.checkUpgradeAnswer(text, UPGRADE.key));
  allowed(() => check(wire.upgradeAnswer(wire.readRequestHead(text).field).head.startsWith('HTTP/1.1 '), 'HTTP'));
  const address = parseWebSocketAddress(text);
  if (address) check(parseWebSocketAddress(formatWebSocketAddress(address)) !== null, 'an address reads back');
}

/** What a door of several processes looks at. */
function runFirstBytes(input: Buffer): void {
  const { state } = sniffTlsServerName(input);
  check(['found', 'incomplete', 'no'].includes(state), 'a state');
  const tag = readRouteTag(input);
  check(tag === null || /^(?:[0-9a-f]{4}|t\d{1,16})$/.test(tag), 'a tag is one');
  check((openingWorker(input) ?? 0) < 256, 'a process');
  const text = input.toString('latin1');
  routeTagOf(text);
  sniffHttpHost(input);
  readAuthority(hostField(text) ?? '');
  for (const line of text.split('\r\n')) {
    const field = readHeaderLine(line);
    if (field) check(field.value === readHeaderLine(`${field.name}: ${field.value} \t`)?.value, 'a field reads back');
  }
}

function datagramFrame(type: number, head: Buffer): Buffer {
  const frame = Buffer.alloc(wire.DATAGRAM_HEADER_BYTES + wire.DATAGRAM_SESSION_BYTES + head.length);
  head.copy(frame, wire.writeDatagramHeader(frame, 0, type, 9, head.length));
  return frame;
}

/** What an agent sends. */
function sealedSeed(): Buffer {
  const sealer = new wire.RecordSealer(SEALING.agent);
  return Buffer.concat([...SEALED_TEXTS, ''].flatMap((text) => sealer.seal(Buffer.from(text))));
}

/** Of one visitor after the other. */
function keptSeed(): Buffer {
  const sealer = new wire.RecordSealer(SEALING.agent);
  return Buffer.concat(
    SEALED_TEXTS.flatMap((text) => [text, '', '\0']).flatMap((text) => sealer.seal(Buffer.from(text))),
  );
}

const ticket = { id: Buffer.alloc(16, 1), key: KEY };

export const TUNNEL_TARGETS: Readonly<Record<string, FuzzTarget>> = {
  'tunnel-from-agent': {
    seeds: [
      wire.encodeMessage({
        type: 'auth',
        versions: [1],
        secret: 's'.repeat(43),
        agentId: 'a',
        epoch: 1,
        software: 'x/1',
      }),
      wire.encodeMessage({ type: 'refused', kind: 'tunnel', id: 7, channel: '01'.repeat(16), reason: 'refused' }),
      wire.encodeMessage({ type: 'ping', sequence: 1 }),
    ],
    run: (input) => allowed(() => readControl(input, 'agent')),
  },
  'tunnel-from-server': {
    seeds: [
      wire.encodeMessage({ type: 'welcome', version: 1, clientId: 1, heartbeatMs: 10_000, encrypt: true }),
      wire.encodeMessage({ type: 'close', code: 'draining', message: 'm', retryAfterMs: 5 }),
      wire.encodeMessage({ type: 'channels', tickets: [ticket] }),
      wire.encodeMessage({
        type: 'config',
        revision: 1,
        hosts: [{ id: 1, name: 'h', targets: [{ host: 'a', port: 1, weight: 1 }] }],
        tunnels: [
          {
            id: 7,
            mode: 'tcp',
            entrance: ':80',
            targets: [{ host: 'a', port: 1, weight: 1 }],
            proxyProtocol: 0,
            destinations: ['a:1'],
            file: null,
          },
        ],
      }),
    ],
    run: (input) => allowed(() => readControl(input, 'server')),
  },
  'tunnel-openings': {
    seeds: [
      wire.encodeOpening(ticket, false),
      wire.encodeOpening(ticket, true),
      Buffer.concat([Buffer.of(1), Buffer.alloc(wire.VISIT_BYTES - 1, 65)]),
    ],
    run: (input) => {
      allowed(() => wire.openingTicketId(input));
      allowed(() => wire.decodeVisit(input));
    },
  },
  'tunnel-starts': {
    seeds: [true, false].flatMap((reused) =>
      [true, false].map((framed) => wire.encodeStart({ ...START, reused, framed }, KEY).subarray(0, -TAG_BYTES)),
    ),
    wrap: (input) => {
      const tag = createHmac('sha256', KEY).update('start').update(input).digest().subarray(0, TAG_BYTES);
      return Buffer.concat([input, tag]);
    },
    run: (input) =>
      allowed(() => {
        const start = wire.decodeStart(input, KEY);
        const again = wire.decodeStart(wire.encodeStart(start, KEY, 1), KEY, 1);
        check(JSON.stringify(again) === JSON.stringify(start), 'a start reads back');
        for (const index of [1, 2]) {
          const isTaken = attempt(() => wire.decodeStart(input, KEY, index));
          check(!isTaken, 'a start is for one visitor of its channel');
        }
      }),
  },
  'tunnel-streams': {
    seeds: [Buffer.from('000003616263000000', 'hex'), Buffer.from('0000016100000262630000', 'hex')],
    run: runFramedStream,
  },
  'tunnel-kept-streams': {
    seeds: [
      Buffer.from('00000361626300000000000001780000000000000000', 'hex'),
      Buffer.from('0000000000000261620000000100', 'hex'),
    ],
    run: runKeptFrames,
  },
  'tunnel-kept-sealed-streams': {
    seeds: [keptSeed()],
    run: runKeptRecords,
  },
  'tunnel-sealed-streams': {
    seeds: [sealedSeed()],
    run: runSealedStream,
  },
  'tunnel-datagrams': {
    seeds: [
      datagramFrame(
        wire.DATAGRAM_FRAME.open,
        wire.encodeDatagramOpening({ tunnelId: 7, visitor: ENDS[0], entrance: ENDS[1] }),
      ),
      datagramFrame(wire.DATAGRAM_FRAME.addressed, encodeSocksAddress({ host: 'a.example', port: 53 })),
      datagramFrame(wire.DATAGRAM_FRAME.addressed, encodeSocksAddress({ host: '::1', port: 53 })),
    ],
    run: runDatagrams,
  },
  'websocket-frames': {
    seeds: [maskedWebSocketFrame, webSocketFrame].map((frame) => frame(2, [Buffer.from('hello')])),
    run: (input) => {
      runWebSocket(input, true);
      runWebSocket(input, false);
    },
  },
  'websocket-handshake': {
    seeds: [UPGRADE.head, wire.upgradeAnswer(wire.readRequestHead(UPGRADE.head).field).head, 'wss://a:1/b?c'],
    run: runHandshake,
  },
  'tunnel-first-bytes': {
    seeds: [
      clientHello(16_384),
      clientHello(3),
      wire.encodeOpening(ticket, true),
      'GET /__gw/agent?gwk=0a1b HTTP/1.1\r\nHost: a.example:80\r\n\r\n',
      `GET / HTTP/1.1\r\nHost:${' '.repeat(300)}\t\r\na:${' '.repeat(300)}\r`,
    ],
    run: runFirstBytes,
  },
  mux: { seeds: MUX_SEEDS, run: runMux },
};
