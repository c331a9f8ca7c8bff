import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DnsMessageError, TYPE } from './message-reader.js';
import { decodeReply, encodeQuestion } from './message.js';
import {
  CODE,
  DnsQueryError,
  decodeQuery,
  encodeAnswer,
  encodeRefusal,
  relabelReply,
  udpLimit,
} from './query-message.js';

const TXT = 16;
const QUESTION = encodeQuestion(7, 'WWW.Example.com', TYPE.A);
/** Without options. */
const PLAIN = encodeQuestion(7, 'a.test', TXT, { options: null, unchecked: true });
const v4 = (last: number) => Buffer.from([10, 0, 0, last]);

describe('questions of clients', () => {
  it('are read with the fields that the reply has to repeat', () => {
    expect(decodeQuery(QUESTION)).toMatchObject({
      id: 7,
      name: 'www.example.com',
      type: TYPE.A,
      class: 1,
      options: { version: 0, payload: 1232, dnssec: false },
    });
    expect(decodeQuery(QUESTION).question.toString('latin1')).toContain('Example');
    expect(decodeQuery(PLAIN)).toMatchObject({ name: 'a.test', type: TXT, options: null, flags: 0x110 });
    expect(decodeQuery(encodeQuestion(1, '', 2, { options: { dnssec: true } }))).toMatchObject({
      name: '',
      options: { dnssec: true },
    });
  });

  const changed = (change: (bytes: Buffer) => unknown) => {
    const bytes = Buffer.from(PLAIN);
    change(bytes);
    return bytes;
  };
  it.each([
    ['another kind of message', changed((b) => b.writeUInt16BE(0x2800, 2)), CODE.notImplemented],
    ['two questions', changed((b) => b.writeUInt16BE(2, 4)), CODE.badFormat],
    ['none', changed((b) => b.writeUInt16BE(0, 4)), CODE.badFormat],
    ['an answer in it', changed((b) => b.writeUInt16BE(1, 6)), CODE.badFormat],
    ['more additional records than it has', changed((b) => b.writeUInt16BE(1, 10)), CODE.badFormat],
    ['far more', changed((b) => b.writeUInt16BE(0xffff, 10)), CODE.badFormat],
    ['a pointer for a name', changed((b) => b.writeUInt16BE(0xc00c, 12)), CODE.badFormat],
    ['a dot within a label', changed((b) => (b[13] = 46)), CODE.badFormat],
    ['a label beyond the end', changed((b) => (b[12] = 63)), CODE.badFormat],
    ['a name cut short', PLAIN.subarray(0, 14), CODE.badFormat],
    [
      'options twice',
      Buffer.concat([changed((b) => b.writeUInt16BE(2, 10)), QUESTION.subarray(-11), QUESTION.subarray(-11)]),
      CODE.badFormat,
    ],
  ])('with %s are answered with a code', (_, bytes, code) => {
    let refusal: unknown;
    try {
      decodeQuery(bytes);
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toBeInstanceOf(DnsQueryError);
    expect(refusal).toMatchObject({ id: 7, code });
    const reply = encodeRefusal(refusal as DnsQueryError);
    expect([reply.length, reply.readUInt16BE(0), reply.readUInt16BE(2)]).toEqual([12, 7, 0x8080 | code]);
  });

  it.each([
    ['nothing', Buffer.alloc(0)],
    ['half a header', PLAIN.subarray(0, 11)],
    ['a reply: two servers must not keep each other busy', changed((b) => b.writeUInt16BE(0x8180, 2))],
  ])('are left alone when they are %s', (_, bytes) => {
    expect(() => decodeQuery(bytes)).toThrow(DnsMessageError);
    expect(() => decodeQuery(bytes)).not.toThrow(DnsQueryError);
  });

  it('neither hang nor throw another error if they are damaged', () => {
    const change = fc.record({
      at: fc.nat(QUESTION.length - 1),
      byte: fc.oneof(fc.nat(255), fc.constantFrom(0xc0, 0, 63, 41)),
    });
    let read = 0;
    fc.assert(
      fc.property(fc.array(change, { maxLength: 6 }), fc.option(fc.nat(QUESTION.length)), (changes, end) => {
        const bytes = Buffer.from(QUESTION);
        for (const { at, byte } of changes) bytes[at] = byte;
        try {
          const query = decodeQuery(end === null ? bytes : bytes.subarray(0, end));
          const reply = encodeAnswer(query, { code: CODE.ok, type: query.type, addresses: [v4(1)] }, udpLimit(query));
          expect(decodeReply(reply).question.name).toBe(query.name);
          read++;
        } catch (error) {
          if (!(error instanceof DnsMessageError)) throw error;
        }
      }),
      { numRuns: 20_000 },
    );
    expect(read).toBeGreaterThan(500);
  });
});

describe('answers to clients', () => {
  it('repeat the question letter by letter, with addresses and their lifetime', () => {
    const query = decodeQuery(QUESTION);
    const reply = encodeAnswer(query, { code: CODE.ok, type: TYPE.A, ttl: 30, addresses: [v4(1), v4(2)] }, 1232);
    expect(reply.subarray(12, 12 + query.question.length)).toEqual(query.question);
    expect(decodeReply(reply)).toMatchObject({ id: 7, code: 0, truncated: false });
    expect(decodeReply(reply).records.slice(0, 2)).toEqual([
      { name: 'www.example.com', type: 1, ttl: 30, value: '10.0.0.1' },
      { name: 'www.example.com', type: 1, ttl: 30, value: '10.0.0.2' },
    ]);
    expect(reply.subarray(-11)[2]).toBe(TYPE.OPT);
  });

  it('have options only for clients that support them, with the high bits of the code', () => {
    const plain = encodeAnswer(decodeQuery(PLAIN), { code: CODE.refused }, 512);
    expect(plain).toHaveLength(PLAIN.length);
    expect(plain.readUInt16BE(2)).toBe(0x8195);
    const long = encodeAnswer(decodeQuery(QUESTION), { code: CODE.badVersion }, 512);
    expect([long.readUInt16BE(2) & 15, long.at(-6)]).toEqual([0, 1]);
  });

  it('are truncated to the size that the client accepts', () => {
    const query = decodeQuery(PLAIN);
    expect(udpLimit(query)).toBe(512);
    expect(udpLimit(decodeQuery(QUESTION))).toBe(1232);
    const addresses = Array.from({ length: 40 }, (_, i) => v4(i));
    const reply = encodeAnswer(query, { code: CODE.ok, type: TYPE.A, addresses }, 512);
    expect(decodeReply(reply).truncated).toBe(true);
    expect(reply).toHaveLength(PLAIN.length);
    expect(decodeReply(encodeAnswer(query, { code: CODE.ok, type: TYPE.A, addresses }, 0xffff)).records).toHaveLength(
      40,
    );
  });

  it('of a name server are forwarded with the client\u2019s own id and spelling', () => {
    const query = decodeQuery(QUESTION);
    const upstream = decodeQuery(encodeQuestion(99, 'www.example.com', TYPE.A));
    const theirs = encodeAnswer(upstream, { code: CODE.ok, type: TYPE.A, addresses: [v4(9)] }, 1232);
    const ours = relabelReply(query, theirs, 1232);
    expect([ours.readUInt16BE(0), decodeReply(ours).records[0]?.value]).toEqual([7, '10.0.0.9']);
    expect(ours.subarray(12, 12 + query.question.length)).toEqual(query.question);
    expect(decodeReply(relabelReply(query, theirs, 20)).truncated).toBe(true);
    expect(() => relabelReply(decodeQuery(PLAIN), theirs, 1232)).toThrow(DnsMessageError);
  });
});
