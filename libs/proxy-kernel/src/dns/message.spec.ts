import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DnsMessageError, TYPE, addressesIn, decodeReply, encodeQuestion } from './message.js';

/** A reply to `question` with raw records: name, type, class, lifetime, length, data. */
function reply(question: Buffer, flags: number, ...records: Buffer[]): Buffer {
  const head = Buffer.from(question.subarray(0, 12));
  head.writeUInt16BE(flags, 2);
  head.writeUInt16BE(records.length, 6);
  head.writeUInt16BE(0, 10);
  return Buffer.concat([head, question.subarray(12, question.length - 11), ...records]);
}

function record(name: Buffer, type: number, ttl: number, data: Buffer): Buffer {
  const fields = Buffer.alloc(10);
  fields.writeUInt16BE(type, 0);
  fields.writeUInt16BE(1, 2);
  fields.writeUInt32BE(ttl, 4);
  fields.writeUInt16BE(data.length, 8);
  return Buffer.concat([name, fields, data]);
}

const wire = (name: string) =>
  Buffer.concat([
    ...name.split('.').flatMap((label) => [Buffer.from([label.length]), Buffer.from(label)]),
    Buffer.from([0]),
  ]);
const ASKED = Buffer.from([0xc0, 12]);
const QUESTION = encodeQuestion(7, 'www.example.com', TYPE.A);

describe('DNS messages', () => {
  it('asks for one name, recursion desired, with room for a longer reply', () => {
    expect(QUESTION.toString('hex')).toBe(
      '00070100000100000000000103777777076578616d706c6503636f6d0000010001' + '00002904d0000000000000',
    );
    for (const name of ['a..b', '.', `${'x'.repeat(64)}.com`, Array(200).fill('ab').join('.')])
      expect(() => encodeQuestion(1, name, TYPE.A)).toThrow(DnsMessageError);
  });

  it('reads addresses behind aliases, with the shortest lifetime', () => {
    const decoded = decodeReply(
      reply(
        QUESTION,
        0x8180,
        record(ASKED, 5, 300, wire('Edge.example.net')),
        record(wire('edge.example.net'), 1, 60, Buffer.from([1, 2, 3, 4])),
        record(wire('edge.example.net'), 1, 90, Buffer.from([1, 2, 3, 5])),
        record(wire('other.net'), 1, 90, Buffer.from([6, 6, 6, 6])),
        record(ASKED, 16, 1, Buffer.from('text')),
      ),
    );
    expect(decoded).toMatchObject({ id: 7, code: 0, truncated: false, question: { name: 'www.example.com', type: 1 } });
    expect(addressesIn(decoded)).toEqual({ addresses: ['1.2.3.4', '1.2.3.5'], ttl: 60 });
  });

  it('finds no address where aliases lead in a circle or a lifetime is negative', () => {
    const circle = reply(
      QUESTION,
      0x8180,
      record(ASKED, 5, 9, wire('b.c')),
      record(wire('b.c'), 5, 9, wire('www.example.com')),
    );
    expect(addressesIn(decodeReply(circle))).toEqual({ addresses: [], ttl: null });
    const negative = reply(QUESTION, 0x8180, record(ASKED, 1, 0xffffffff, Buffer.from([1, 1, 1, 1])));
    expect(addressesIn(decodeReply(negative)).ttl).toBe(0);
  });

  it.each([
    ['nothing', Buffer.alloc(0), 'shorter'],
    ['a question', QUESTION, 'not a reply'],
    [
      'a name that points to itself',
      Buffer.concat([reply(QUESTION, 0x8180).subarray(0, 12), Buffer.from([0xc0, 12, 0, 1, 0, 1])]),
      'circles',
    ],
    ['a record cut short', reply(QUESTION, 0x8180, record(ASKED, 1, 1, Buffer.alloc(4))).subarray(0, -1), 'cut short'],
    [
      'a length beyond the end',
      reply(QUESTION, 0x8180, Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 255, 255])),
      'cut short',
    ],
    [
      'a label of reserved kind',
      Buffer.concat([reply(QUESTION, 0x8180).subarray(0, 12), Buffer.from([0x80, 1, 0, 1, 0, 1])]),
      'too long',
    ],
  ])('refuses %s', (_, bytes, message) => {
    expect(() => decodeReply(bytes)).toThrow(DnsMessageError);
    expect(() => decodeReply(bytes)).toThrow(message);
  });

  it('neither hangs nor throws another error for damaged replies', () => {
    const good = reply(
      QUESTION,
      0x8180,
      record(ASKED, 5, 300, Buffer.concat([Buffer.from([4]), Buffer.from('edge'), Buffer.from([0xc0, 16])])),
      record(Buffer.from([0xc0, 45]), 28, 60, Buffer.alloc(16, 1)),
      record(Buffer.from([0xc0, 45]), 1, 60, Buffer.alloc(4, 1)),
    );
    const change = fc.record({
      at: fc.nat(good.length - 1),
      byte: fc.oneof(fc.nat(255), fc.constantFrom(0xc0, 0, 63)),
    });
    let read = 0;
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 6 }), fc.option(fc.nat(good.length)), (changes, end) => {
        const bytes = Buffer.from(good);
        for (const { at, byte } of changes) bytes[at] = byte;
        try {
          addressesIn(decodeReply(end === null ? bytes : bytes.subarray(0, end)));
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
