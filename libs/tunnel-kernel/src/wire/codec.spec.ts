import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TunnelError } from '../errors.js';
import { decodeMessage, encodeMessage, frameLimit, MAX_EDGES, MAX_TICKETS, type Side } from './codec.js';
import { encodeFrame, FrameDecoder, type Frame } from './frame.js';
import { CLOSE_CODES, DIAL_FAILURES, PATH_STATES, type Message } from './messages.js';

const id = fc.nat(Number.MAX_SAFE_INTEGER);
const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((value) => Buffer.from(value));
const text = (maxLength: number) => fc.string({ maxLength, unit: 'grapheme-ascii' });

const pathId = bytes(16).map((value) => value.toString('hex'));
const fromAgent: fc.Arbitrary<Message> = fc.oneof(
  fc.record({
    type: fc.constant('auth' as const),
    versions: fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 16 }),
    secret: text(128),
    agentId: text(64),
    epoch: id,
    software: text(128),
  }),
  fc.record({
    type: fc.constant('auth' as const),
    versions: fc.constant<number[]>([1]),
    secret: text(128),
    agentId: text(64),
    epoch: id,
    software: text(128),
    slot: fc.integer({ min: 0, max: 15 }),
    replica: fc.boolean(),
    longRecords: fc.boolean(),
  }),
  fc.record({
    type: fc.constant('refused' as const),
    kind: fc.constantFrom('tunnel' as const, 'host' as const),
    id,
    channel: bytes(16).map((value) => value.toString('hex')),
    reason: fc.constantFrom(...DIAL_FAILURES),
  }),
  fc.constant({ type: 'leaving' as const }),
  fc.record({ type: fc.constantFrom('ping' as const, 'pong' as const), sequence: fc.nat(0xff_ff_ff_ff) }),
  fc.record({ type: fc.constant('pathState' as const), id: pathId, state: fc.constantFrom(...PATH_STATES) }),
  fc.record({
    type: fc.constant('carried' as const),
    id: pathId,
    upload: fc.nat(2 ** 46),
    download: fc.nat(2 ** 46),
    connections: fc.nat(65_536),
  }),
);
const target = fc.record({
  host: text(255),
  port: fc.integer({ min: 1, max: 65_535 }),
  weight: fc.integer({ min: 1, max: 1000 }),
});
const tunnel = fc.record({
  id,
  mode: text(32),
  entrance: text(300),
  targets: fc.array(target, { maxLength: 5 }),
  proxyProtocol: fc.nat(2),
  destinations: fc.array(text(300), { maxLength: 4 }),
  file: fc.option(fc.record({ path: text(4096), readOnly: fc.boolean(), stripPrefix: text(1024) })),
});
const host = fc.record({ id, name: text(2048), targets: fc.array(target, { maxLength: 5 }) });
const fromServer: fc.Arbitrary<Message> = fc.oneof(
  fc.record({
    type: fc.constant('welcome' as const),
    version: fc.integer({ min: 1, max: 255 }),
    clientId: id,
    heartbeatMs: fc.integer({ min: 1, max: 3_600_000 }),
    encrypt: fc.boolean(),
  }),
  fc.record({
    type: fc.constant('close' as const),
    code: fc.constantFrom(...CLOSE_CODES),
    message: text(256),
    retryAfterMs: fc.option(fc.nat(86_400_000)),
  }),
  fc.record({
    type: fc.constant('config' as const),
    revision: id,
    tunnels: fc.array(tunnel, { maxLength: 8 }),
    hosts: fc.array(host, { maxLength: 8 }),
  }),
  fc.record({
    type: fc.constant('channels' as const),
    tickets: fc.array(fc.record({ id: bytes(16), key: bytes(32) }), { maxLength: MAX_TICKETS }),
  }),
  fc.record({ type: fc.constant('move' as const), spreadMs: fc.nat(3_600_000) }),
  fc.record({
    type: fc.constant('rendezvous' as const),
    id: pathId,
    tunnelId: id,
    visitor: fc.record({
      address: fc.constantFrom('192.0.2.1', '2001:db8::1'),
      port: fc.integer({ min: 1, max: 65_535 }),
    }),
    token: bytes(32).map((value) => value.toString('base64url')),
  }),
  fc.record({ type: fc.constant('rendezvousEnd' as const), id: pathId, graceMs: fc.nat(3_600_000) }),
  fc.record({
    type: fc.constant('edges' as const),
    own: text(36),
    edges: fc.array(fc.record({ id: text(36), host: text(255), port: fc.integer({ min: 1, max: 65_535 }) }), {
      maxLength: MAX_EDGES,
    }),
  }),
);

/** Cuts a buffer at any places. */
function cut(whole: Buffer, at: readonly number[]): Buffer[] {
  const places = [0, ...at.map((place) => place % (whole.length + 1)).sort((a, b) => a - b), whole.length];
  return places.slice(1).map((end, index) => whole.subarray(places[index], end));
}

function readAll(chunks: readonly Buffer[], from: Side): Message[] {
  const decoder = new FrameDecoder((type) => frameLimit(type, from));
  const messages: Message[] = [];
  for (const chunk of chunks) {
    for (const frame of decoder.read(chunk)) {
      const message = decodeMessage(frame, from);
      if (message) messages.push(message);
    }
  }
  return messages;
}

describe('messages', () => {
  it.each([
    ['agent', fromAgent],
    ['server', fromServer],
  ] as const)('of the %s read back, however the stream is cut', (from, messages) => {
    fc.assert(
      fc.property(fc.array(messages, { maxLength: 6 }), fc.array(fc.nat(), { maxLength: 20 }), (sent, places) => {
        const wire = Buffer.concat(sent.map(encodeMessage));
        expect(readAll(cut(wire, places), from)).toEqual(sent);
      }),
      { numRuns: 200 },
    );
  });

  it('are either valid or one protocol error for any bytes, from either side', () => {
    const valid = fc.oneof(fromAgent, fromServer).map(encodeMessage);
    const noise = fc.uint8Array({ maxLength: 400 }).map((value) => Buffer.from(value));
    const damaged = fc.tuple(valid, fc.nat(), fc.nat(255)).map(([frame, at, value]) => {
      const copy = Buffer.from(frame);
      copy[at % copy.length] = value;
      return copy;
    });
    fc.assert(
      fc.property(
        fc.array(fc.oneof(valid, noise, damaged), { maxLength: 5 }),
        fc.constantFrom<Side>('agent', 'server'),
        (parts, from) => {
          try {
            readAll(parts, from);
          } catch (error) {
            expect(error).toBeInstanceOf(TunnelError);
            expect((error as TunnelError).code).toBe('protocol');
          }
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('are not buffered if they are too long, and nothing is read after them', () => {
    const decoder = new FrameDecoder((type) => frameLimit(type, 'agent'));
    const header = Buffer.from([0x01, 0xff, 0xff, 0xff]);
    expect(() => [...decoder.read(header)]).toThrow('a frame of type 1 with 16777215 bytes');
    expect(() => [...decoder.read(encodeMessage({ type: 'leaving' }))]).toThrow('broken');
  });

  it('of the wrong side are refused by their header', () => {
    expect(() => readAll([encodeMessage({ type: 'move', spreadMs: 1 })], 'agent')).toThrow(TunnelError);
    expect(() => readAll([encodeMessage({ type: 'leaving' })], 'server')).toThrow(TunnelError);
  });

  it('of an unknown type from 0x80 on are skipped, and below it end the stream', () => {
    const later = encodeFrame(0xf0, Buffer.from('what a newer version says'));
    expect(readAll([later, encodeMessage({ type: 'leaving' })], 'agent')).toEqual([{ type: 'leaving' }]);
    expect(() => readAll([encodeFrame(0x7f, Buffer.alloc(0))], 'agent')).toThrow(TunnelError);
    expect(() => readAll([encodeFrame(0xf0, Buffer.alloc(4097))], 'agent')).toThrow(TunnelError);
  });

  it.each([
    ['not an object', '[]'],
    ['no secret', '{"versions":[1],"agentId":"a","epoch":1,"software":"x"}'],
    [
      'a secret that is too long',
      `{"versions":[1],"secret":"${'s'.repeat(129)}","agentId":"a","epoch":1,"software":""}`,
    ],
    ['an epoch that is no integer', '{"versions":[1],"secret":"s","agentId":"a","epoch":1.5,"software":"x"}'],
    ['fields of a prototype', '{"__proto__":{"versions":[1],"secret":"s","agentId":"a","epoch":1,"software":"x"}}'],
    ['nesting', '['.repeat(1500)],
    ['half a character', Buffer.from([0x7b, 0x22, 0xff, 0x22])],
  ])('an auth with %s is a protocol error', (_, body) => {
    const frame: Frame = { type: 0x01, body: Buffer.from(body as string) };
    expect(() => decodeMessage(frame, 'agent')).toThrow(expect.objectContaining({ code: 'protocol' }));
  });
});
