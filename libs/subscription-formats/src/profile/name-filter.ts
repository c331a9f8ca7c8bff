import type { ClashEntry } from '../clash/entry.js';
import type { NameFilter, NameTest } from './profile.js';

const MAX_PATTERN = 2_048;
const MAX_PATTERNS = 64;
const IGNORE_CASE = /\(\?i\)/g;
/** What is left of a pattern behind its conditions and says nothing more. */
const ANYTHING = /^(?:\.\*\$?)?$/;
const LOOK_AROUND = /\(\?[=!<]/;
const LOOK_AHEAD = /^\(\?[=!]/;
/** `((?!X).)*` at the end of a pattern: X occurs nowhere. */
const NOWHERE = /^\((?:\?:)?\(\?!/;

/**
 * Takes a pattern apart into the patterns that must and must not occur in a name. Null for one that needs more than
 * look-ahead at its start: look-behind, or look-ahead in between.
 */
export function readNameTest(pattern: string): NameTest | null {
  if (pattern.length > MAX_PATTERN) return null;
  const ignoreCase = pattern.includes('(?i)');
  const test: NameTest = { all: [], none: [], ignoreCase };
  let rest = pattern.replace(IGNORE_CASE, '').trim();
  if (!LOOK_AROUND.test(rest)) return { ...test, all: rest === '' ? [] : [rest] };
  if (hasAlternatives(rest)) return null;
  const anchored = isAnchored(rest);
  for (;;) {
    if (rest.startsWith('^')) rest = rest.slice(1);
    else if (LOOK_AHEAD.test(rest)) {
      const end = closing(rest, 0);
      if (end < 0 || !addCondition(test, rest.slice(0, end), anchored)) return null;
      rest = rest.slice(end + 1);
    } else break;
  }
  return addRest(test, rest, anchored) ? test : null;
}

/** Whether the conditions at the start hold at the start of the name. */
function isAnchored(pattern: string): boolean {
  let rest = pattern;
  while (LOOK_AHEAD.test(rest)) {
    const end = closing(rest, 0);
    if (end < 0) return false;
    rest = rest.slice(end + 1);
  }
  return rest.startsWith('^');
}

/** @param text a look-ahead without its last parenthesis: `(?=.*Tokyo`. */
function addCondition(test: NameTest, text: string, anchored: boolean): boolean {
  const negative = text.startsWith('(?!');
  const inner = text.slice(3);
  if (LOOK_AROUND.test(inner)) return false;
  const anywhere = inner.startsWith('.*') && !hasAlternatives(inner);
  // Without an anchor a look-ahead holds if it does at any place: for a negative one that is always so.
  if (!anchored && (negative || !anywhere)) return false;
  const pattern = anywhere ? inner.slice(2).replace(/(?<!\\)\.\*\$?$/, '') : `^(?:${inner})`;
  if (pattern === '') return !negative;
  (negative ? test.none : test.all).push(pattern);
  return true;
}

function addRest(test: NameTest, rest: string, anchored: boolean): boolean {
  if (ANYTHING.test(rest)) return true;
  // Without an anchor the conditions and the rest would have to hold at one and the same place.
  if (!anchored) return false;
  if (!LOOK_AROUND.test(rest)) {
    test.all.push(`^(?:${rest})`);
    return true;
  }
  const head = NOWHERE.exec(rest)?.[0];
  if (head === undefined) return false;
  const open = head.length - 3;
  const end = closing(rest, open);
  const inner = rest.slice(open + 3, end);
  const [, dollar] = /^\.\)\*(\$?)$/.exec(rest.slice(end + 1)) ?? [];
  if (end < 0 || inner === '' || LOOK_AROUND.test(inner) || dollar === undefined) return false;
  // Without its end the repetition may stop before the word, so that it forbids nothing.
  if (dollar === '$') test.none.push(inner);
  return true;
}

/** Whether there is a `|` outside all parentheses. */
function hasAlternatives(text: string): boolean {
  let depth = 0;
  let inClass = false;
  for (let at = 0; at < text.length; at++) {
    const char = text[at];
    if (char === '\\') at++;
    else if (inClass) inClass = char !== ']';
    else if (char === '[') inClass = true;
    else if (char === '(') depth++;
    else if (char === ')') depth--;
    else if (char === '|' && depth === 0) return true;
  }
  return false;
}

/** The position of the parenthesis that closes the one at `open`; -1 if there is none. */
function closing(text: string, open: number): number {
  let depth = 0;
  let inClass = false;
  for (let at = open; at < text.length; at++) {
    const char = text[at];
    if (char === '\\') at++;
    else if (inClass) inClass = char !== ']';
    else if (char === '[') inClass = true;
    else if (char === '(') depth++;
    else if (char === ')' && --depth === 0) return at;
  }
  return -1;
}

/** The `filter`, `exclude-filter` and `exclude-type` of a group or provider. A backtick separates patterns. */
export function readNameFilter(entry: ClashEntry): NameFilter {
  const filter: NameFilter = { include: [], exclude: [], excludeTypes: [], readable: true };
  const add = (key: string, to: NameTest[]): void => {
    const patterns = (entry.text(key) ?? '').split('`').filter((pattern) => pattern.trim() !== '');
    if (patterns.length > MAX_PATTERNS) filter.readable = false;
    for (const pattern of patterns.slice(0, MAX_PATTERNS)) {
      const test = readNameTest(pattern);
      if (test === null) filter.readable = false;
      else to.push(test);
    }
  };
  add('filter', filter.include);
  add('exclude-filter', filter.exclude);
  filter.excludeTypes = (entry.text('exclude-type') ?? '')
    .split('|')
    .map((type) => typeWord(type.trim().toLowerCase()))
    .filter((type) => type !== '');
  return filter;
}

/** mihomo's names of node types, as they appear in `exclude-type`, that differ from those of entries. */
const TYPE_WORDS: Readonly<Record<string, string>> = { shadowsocks: 'ss', shadowsocksr: 'ssr', socks: 'socks5' };

function typeWord(word: string): string {
  return Object.hasOwn(TYPE_WORDS, word) ? (TYPE_WORDS[word] ?? word) : word;
}
