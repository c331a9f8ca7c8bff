/** Random changes of an input: of bytes, of pieces, and of its structure. */

export type Random = () => number;

/** Mulberry32: the same seed gives the same inputs. */
export function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Pieces that mean something to one parser or another. */
const DICTIONARY: readonly string[] = [
  ...'{}[]()<>,:;=&*!|>%@#?/\\\'"`~-+.$^_ \t\r\n\0'.split(''),
  '\r\n',
  '\n\n',
  '- ',
  ': ',
  ' #',
  '<<: *x',
  '&x ',
  '*x',
  '!!binary ',
  '|2-\n',
  '---\n',
  '...\n',
  '%YAML 1.2\n',
  '\ufeff',
  '\u2028',
  '://',
  'ss://',
  'vmess://',
  'ssd://',
  '%00',
  '%',
  '%zz',
  '%ff%fe',
  '+',
  '==',
  'proxies:',
  'Proxy:',
  'rules:',
  'outbounds',
  'servers',
  'null',
  'true',
  '~',
  'NaN',
  'Infinity',
  '-0',
  '1e309',
  '0x10',
  '65536',
  '-1',
  '9007199254740993',
  '99999999999999999999',
  '1.5',
  '__proto__',
  'constructor',
  'toString',
  '"__proto__":{"a":1},',
  '[::1]',
  '255.255.255.255',
  '::ffff:1.2.3.4',
  'fe80::1%eth0',
  '\ud83c\udfe0',
  '\ud800',
  '\u0000',
  '\u202e',
  'ß',
  'İ',
  '.',
  '..',
  '*',
  '+.',
  '//',
  '/*',
  '*/',
  'AND,((',
  'NOT,((',
  '))',
  ',no-resolve',
  'upload=',
  'total=',
  "filename*=UTF-8''",
  'filename="',
  'base64:',
  '[Proxy]\n',
  'ws-headers=',
  '(a+)+$',
  '(?=',
  '\\u{110000}',
  '[Rule]\n',
];

const EXTREMES = [0, 1, 0x7f, 0x80, 0xff, 0xe0, 0x3f, 0x1d, 0x1e, 0x1f];

/** One mutated input of at most `maxBytes`. */
export function mutate(seeds: readonly Buffer[], random: Random, maxBytes: number): Buffer {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  let input: Buffer = Buffer.from(pick(seeds));
  const rounds = 1 + Math.floor(random() * random() * 12);
  for (let round = 0; round < rounds; round++) input = pick(MUTATIONS)(input, { random, pick, seeds });
  return input.subarray(0, maxBytes);
}

interface Tools {
  random: Random;
  pick<T>(list: readonly T[]): T;
  seeds: readonly Buffer[];
}

type Mutation = (input: Buffer, tools: Tools) => Buffer;

function place(input: Buffer, { random }: Tools): number {
  return Math.floor(random() * (input.length + 1));
}

function span(input: Buffer, tools: Tools): [number, number] {
  const start = place(input, tools);
  return [start, Math.min(input.length, start + Math.floor(tools.random() ** 2 * 200))];
}

function spliced(input: Buffer, from: number, to: number, middle: Buffer): Buffer {
  return Buffer.concat([input.subarray(0, from), middle, input.subarray(to)]);
}

const MUTATIONS: readonly Mutation[] = [
  // A byte becomes another.
  (input, tools) => {
    if (input.length === 0) return input;
    const copy = Buffer.from(input);
    const at = Math.floor(tools.random() * copy.length);
    copy[at] = tools.random() < 0.5 ? tools.pick(EXTREMES) : Math.floor(tools.random() * 256);
    return copy;
  },
  (input, tools) => {
    if (input.length === 0) return input;
    const copy = Buffer.from(input);
    const at = Math.floor(tools.random() * copy.length);
    copy[at] = copy[at]! ^ (1 << Math.floor(tools.random() * 8));
    return copy;
  },
  // A word goes in, or takes the place of something.
  (input, tools) => {
    const at = place(input, tools);
    return spliced(input, at, at, Buffer.from(tools.pick(DICTIONARY)));
  },
  (input, tools) => spliced(input, ...span(input, tools), Buffer.from(tools.pick(DICTIONARY))),
  // A part goes away, or comes twice, or somewhere else.
  (input, tools) => spliced(input, ...span(input, tools), Buffer.alloc(0)),
  (input, tools) => {
    const [from, to] = span(input, tools);
    const at = place(input, tools);
    return spliced(input, at, at, input.subarray(from, to));
  },
  // Half of one and half of another.
  (input, tools) => {
    const other = tools.pick(tools.seeds);
    return Buffer.concat([input.subarray(0, place(input, tools)), other.subarray(place(other, tools))]);
  },
  (input, tools) => input.subarray(0, place(input, tools)),
  // The same again and again: depth, and whatever is not linear.
  (input, tools) => {
    const [from, to] = tools.random() < 0.5 ? span(input, tools) : [0, 0];
    const piece = from === to ? Buffer.from(tools.pick(DICTIONARY)) : input.subarray(from, to);
    const times = Math.floor(2 ** (tools.random() * 13) / Math.max(1, piece.length / 8));
    const at = place(input, tools);
    return spliced(input, at, at, Buffer.concat(Array.from({ length: times }, () => piece)));
  },
  // A figure becomes another.
  (input, tools) =>
    Buffer.from(
      input
        .toString('latin1')
        .replace(/\d+/g, (figure) =>
          tools.random() < 0.2 ? tools.pick(['0', '-1', '65536', '4294967296', '1e9', '00', '']) : figure,
        ),
      'latin1',
    ),
];
