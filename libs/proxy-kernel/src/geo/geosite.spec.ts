import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GeoDatabaseError } from '@gatehouse/geo';
import { openGeositeFile } from './geosite.js';

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest & 127) | 128);
  return Buffer.from([...bytes, rest]);
}

const bytesOf = (content: Uint8Array | string) =>
  typeof content === 'string' ? Buffer.from(content) : Buffer.from(content);
const message = (field: number, content: Uint8Array | string) =>
  Buffer.concat([varint(field * 8 + 2), varint(Buffer.byteLength(content)), bytesOf(content)]);
const number = (field: number, value: number) => Buffer.concat([varint(field * 8), varint(value)]);
const [KEYWORD, REGEX, SUFFIX, FULL] = [0, 1, 2, 3];

function name(type: number, value: string, ...attributes: string[]): Buffer {
  const marks = attributes.map((attribute) =>
    message(3, Buffer.concat([message(1, attribute), attribute.length % 2 === 0 ? number(2, 1) : number(3, 7)])),
  );
  return message(2, Buffer.concat([...(type === 0 ? [] : [number(1, type)]), message(2, value), ...marks]));
}

const list = (code: string, ...names: Buffer[]) => message(1, Buffer.concat([message(1, code), ...names]));
const FILE = Buffer.concat([
  list(
    'GOOGLE',
    name(SUFFIX, 'google.com'),
    name(FULL, 'www.google.cn', 'cn'),
    name(KEYWORD, 'goog', 'ads', 'cn'),
    name(REGEX, '^ad\\.', 'ads'),
  ),
  list('geolocation-!cn', name(SUFFIX, 'example.com')),
  list('CN', name(SUFFIX, 'cn')),
]);

describe('geosite file', () => {
  it('gives the lists as classical entries', () => {
    const file = openGeositeFile(FILE);
    expect(file.codes).toEqual(['google', 'geolocation-!cn', 'cn']);
    expect(file.entries('Google')).toEqual([
      'DOMAIN-SUFFIX,google.com',
      'DOMAIN,www.google.cn',
      'DOMAIN-KEYWORD,goog',
      'DOMAIN-REGEX,^ad\\.',
    ]);
    expect(file.entries('geolocation-!cn')).toEqual(['DOMAIN-SUFFIX,example.com']);
    expect(file.entries('nothing')).toBeNull();
  });

  it('chooses by attribute', () => {
    const { entries } = openGeositeFile(FILE);
    expect(entries('google@cn')).toEqual(['DOMAIN,www.google.cn', 'DOMAIN-KEYWORD,goog']);
    expect(entries('google@!cn')).toEqual(['DOMAIN-SUFFIX,google.com', 'DOMAIN-REGEX,^ad\\.']);
    expect(entries('google@ads@cn')).toEqual(['DOMAIN-KEYWORD,goog']);
    expect(entries('google@nobody')).toEqual([]);
  });

  it('skips unknown fields', () => {
    const extra = Buffer.concat([
      number(9, 5),
      varint(10 * 8 + 1),
      Buffer.alloc(8),
      varint(11 * 8 + 5),
      Buffer.alloc(4),
    ]);
    const file = openGeositeFile(message(1, Buffer.concat([extra, message(1, 'x'), name(FULL, 'a.com'), extra])));
    expect(file.entries('x')).toEqual(['DOMAIN,a.com']);
  });

  it.each([
    ['nothing', Buffer.alloc(0), 'no list'],
    ['a page of HTML', Buffer.from('<html>Not found</html>'), ''],
    ['a list without a code', message(1, name(FULL, 'a.com')), 'without a code'],
    ['a code that is none', list('a b'), 'no code'],
    ['a name without text', list('x', name(FULL, '')), 'without text'],
    ['a name of another kind', list('x', name(9, 'a.com')), 'no known kind'],
    ['a length beyond the end', Buffer.from([10, 200, 1, 0]), 'beyond the end'],
    ['a number without end', Buffer.alloc(40, 255), 'too long'],
    ['a group', list('x', Buffer.from([0x1b])), 'no known type'],
  ])('refuses %s', (_, file, text) => {
    expect(() => openGeositeFile(file)).toThrow(GeoDatabaseError);
    expect(() => openGeositeFile(file)).toThrow(text);
  });

  it('throws only this error for a damaged file, and none later', () => {
    const change = fc.record({ at: fc.nat(FILE.length - 1), byte: fc.nat(255) });
    let opened = 0;
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
        const file = Buffer.from(FILE);
        for (const { at, byte } of changes) file[at] = byte;
        try {
          const { codes, entries } = openGeositeFile(file);
          opened++;
          for (const code of codes) expect(entries(code)).not.toBeNull();
        } catch (error) {
          if (!(error instanceof GeoDatabaseError)) throw error;
        }
      }),
      { numRuns: 5000 },
    );
    expect(opened).toBeGreaterThan(100);
  });
});
