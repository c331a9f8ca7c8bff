import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatFullUrl } from './full-url.js';
import { parseShareLink, parseShareLinks } from './parse.js';
import { MAX_TEXT_BYTES, ShareLinkError } from './share-link.js';

const PIECES = [
  'https://',
  'http://',
  '115.com',
  'pan.baidu.com',
  '/s/',
  '1abc',
  'pan.quark.cn',
  'e06704643151',
  'cloud.189.cn/t/',
  '?pwd=',
  '?password=',
  '#',
  '&',
  '$$$',
  '（访问码：',
  '）',
  '提取码',
  ':',
  ' ',
  '\n',
  '%',
  '%E6%8F',
  '\u200b',
  '\ufdfa',
  'magnet:?xt=urn:btih:',
  'c9e15763f722f23e98a29decdfae341b98d53056',
  'ed2k://|file|',
  '|',
  '\ud800',
  '[',
  ']',
  '@',
  '.',
  'https://yun.139.com/shareweb/#/w/i/',
  'caiyun.139.com/m/i?',
  'abcd',
  '密',
  '=',
  '?',
  '//',
  '/',
  '\\',
  '&amp;',
];
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => pieces.join('')),
);
const code = fc.stringMatching(/^[A-Za-z0-9]{1,16}$/);

describe('any text', () => {
  it('is either refused, or parsed into something that parses again', () => {
    fc.assert(
      fc.property(text, (input) => {
        for (const link of readAll(input)) {
          const again = parseShareLink(link.fullUrl);
          expect([again.kind, again.key, again.accessCode]).toEqual([link.kind, link.key, link.accessCode]);
          expect(again.fullUrl).toBe(link.fullUrl);
          expect(Buffer.byteLength(link.key)).toBeLessThan(2600);
        }
      }),
      { numRuns: 10_000 },
    );
  });

  it('never gets a duplicate code', () => {
    fc.assert(
      fc.property(text, code, code, (input, first, second) => {
        for (const { kind, url, key } of readAll(input)) {
          const once = formatFullUrl({ kind, url, accessCode: first });
          const twice = formatFullUrl({ kind, url: once, accessCode: second });
          expect(twice).toBe(formatFullUrl({ kind, url, accessCode: second }));
          if (kind === 'magnet' || kind === 'ed2k') continue;
          expect(parseShareLink(twice)).toMatchObject({ key, accessCode: second });
        }
      }),
      { numRuns: 3000 },
    );
  });
});

function readAll(input: string): ReturnType<typeof parseShareLinks> {
  try {
    return parseShareLinks(input);
  } catch (error) {
    if (error instanceof ShareLinkError) return [];
    throw error;
  }
}

it('parsing takes time in proportion to the text, whatever it contains', () => {
  const fill = (piece: string, bytes: number): string => piece.repeat(Math.floor(bytes / Buffer.byteLength(piece)));
  const once = (input: string): number => {
    const start = performance.now();
    for (let turn = 0; turn < 5; turn++) readAll(input);
    return performance.now() - start;
  };
  /** The best of many, taken in turns, so that what else the machine does meets both alike. */
  const compare = (whole: string, part: string): { whole: number; part: number } => {
    const best = { whole: Infinity, part: Infinity };
    for (let round = 0; round < 25; round++) {
      best.whole = Math.min(best.whole, once(whole));
      best.part = Math.min(best.part, once(part));
    }
    return best;
  };
  const pieces = [
    ...PIECES,
    'a',
    'a.',
    '-',
    '提取码 ',
    'code ',
    '1a',
    'www.',
    'https://a',
    'https://115.com/s/a$$$',
    'p=a|',
  ];
  for (const piece of pieces) {
    const time = compare(fill(piece, MAX_TEXT_BYTES), fill(piece, MAX_TEXT_BYTES / 8));
    // A machine this slow at 2 KB could only be one that backtracks.
    expect(time.whole, piece).toBeLessThan(100);
    // Eight times the text: about eight times the time; 64 would be quadratic. Next to nothing cannot be compared.
    if (time.whole > 0.5) expect(time.whole / time.part, piece).toBeLessThan(30);
  }
});
