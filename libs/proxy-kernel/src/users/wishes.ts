/** Reads and writes what follows the name of a user: `ann-country-jp-session-a1-ttl-10m`. Pure. */
import type { Wishes } from '../interfaces/index.js';

const SECOND = 1000;
const UNITS = { s: SECOND, m: 60 * SECOND, h: 3600 * SECOND } as const;
const LONGEST_TTL_MS = 24 * UNITS.h;
/** For a session that names none. */
export const DEFAULT_TTL_MS = 10 * UNITS.m;
/** Of the readable form. */
const LONGEST_VALUE = 128;
const LONGEST_SESSION = 64;

type WishKey = 'country' | 'group' | 'node' | 'session' | 'ttl';

/** Wishes that cannot be understood. The message is for the user. */
export class WishError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'WishError';
  }
}

const READERS: Readonly<Record<WishKey, (value: string) => Wishes>> = {
  country: (value) => {
    if (!/^[a-z]{2}$/i.test(value)) throw new WishError('country takes a code of two letters, such as jp');
    return { country: value.toLowerCase() };
  },
  group: (value) => ({ group: value }),
  node: (value) => ({ node: value }),
  session: (value) => {
    if (value.length > LONGEST_SESSION) throw new WishError(`session takes at most ${LONGEST_SESSION} characters`);
    return { session: value };
  },
  ttl: (value) => ({ ttlMs: readTtl(value) }),
};
const KEYS = Object.keys(READERS) as WishKey[];

/** @param text what follows the hyphen after the name. @throws WishError. */
export function parseWishes(text: string): Wishes {
  const parts = text.split('-');
  const wishes: Wishes = {};
  const seen = new Set<string>();
  for (let index = 0; index < parts.length; index += 2) {
    const [key = '', value] = parts.slice(index, index + 2);
    if (!isKey(key)) throw new WishError(`${shown(key)} is none of ${KEYS.join(', ')}`);
    if (seen.has(key)) throw new WishError(`${key} is given twice`);
    if (value === undefined || value === '') throw new WishError(`${key} has no value`);
    seen.add(key);
    Object.assign(wishes, READERS[key](decode(key, value)));
  }
  if (wishes.ttlMs !== undefined && wishes.session === undefined) throw new WishError('ttl needs a session');
  return wishes;
}

/** The shortest text that `parseWishes` reads as these wishes, always in the same order. */
export function printWishes({ country, group, node, session, ttlMs }: Wishes): string {
  const pairs: [WishKey, string | undefined][] = [
    ['country', country],
    ['group', group],
    ['node', node],
    ['session', session],
    ['ttl', ttlMs === undefined ? undefined : printTtl(ttlMs)],
  ];
  return pairs.flatMap(([key, value]) => (value === undefined ? [] : [`${key}-${encode(value)}`])).join('-');
}

function isKey(key: string): key is WishKey {
  return Object.hasOwn(READERS, key);
}

function readTtl(value: string): number {
  const match = /^(\d{1,6})([smh])$/.exec(value);
  const ttlMs = Number(match?.[1] ?? 0) * UNITS[(match?.[2] ?? 's') as keyof typeof UNITS];
  if (ttlMs < SECOND || ttlMs > LONGEST_TTL_MS) throw new WishError('ttl takes 1s to 24h, such as 30s, 10m or 2h');
  return ttlMs;
}

function printTtl(ttlMs: number): string {
  const [unit, size] = ttlMs % UNITS.h === 0 ? ['h', UNITS.h] : ttlMs % UNITS.m === 0 ? ['m', UNITS.m] : ['s', SECOND];
  return `${ttlMs / size}${unit}`;
}

function decode(key: string, value: string): string {
  let text: string;
  try {
    text = decodeURIComponent(value);
  } catch {
    throw new WishError(`${key} is not percent-encoded as UTF-8`);
  }
  if (text.length > LONGEST_VALUE) throw new WishError(`${key} takes at most ${LONGEST_VALUE} characters`);
  return text;
}

/** `encodeURIComponent` leaves the hyphen, which separates here. */
function encode(value: string): string {
  return encodeURIComponent(value).replaceAll('-', '%2D');
}

/** Text of a client in a message. */
function shown(text: string): string {
  return JSON.stringify(text.slice(0, 32));
}
