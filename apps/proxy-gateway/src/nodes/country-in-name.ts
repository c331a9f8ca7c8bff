import { COUNTRY_CODES, labelsOf } from '../data/country-names.js';
import { PLACE_CODES, PLACES, WORDS_AMONG_CODES } from './places.js';

const known = new Set(COUNTRY_CODES);

/** Codes that mean a protocol, a company, a unit or a word more often than the country. */
const NEVER = new Set('AI AM CC CF CM CU ID IO IS LA LB MS NF NO PM PS SS TC TG TO TV WS'.split(' '));
/** Codes that are words as well. In capitals they count unless a word stands beside them. */
const WORDS = new Set('AS AT BE BY DO IN IT ME MY SO'.split(' '));
/** The codes that providers write in small letters. */
const SMALL = new Set(
  'ae ar au br ca ch cl cn co cz de dk es fi fr gb gr hk hu ie il jp kr kz md mx ng nl nz ph pl pt ro rs ru sa se sg th tr tw ua uk us vn za'.split(' '),
); // prettier-ignore
/** Small letters that count only right before a number. */
const SMALL_BEFORE_NUMBER = new Set('at be in it my'.split(' '));

/** Longest first, so that a longer label is found before a shorter one inside it. */
const labels: readonly (readonly [label: string, code: string])[] = [
  ...Object.entries(PLACES),
  ...COUNTRY_CODES.flatMap((code) => labelsOf(code).map((label) => [label, code] as const)),
]
  .filter(([label]) => label.length > 1)
  .sort(([a], [b]) => b.length - a.length);

/**
 * A flag, otherwise a country or city that is spelled out, otherwise a code: of two capital letters, of an airport, or in
 * small letters as names of servers have them.
 */
export function countryInName(name: string): string | null {
  return byFlag(name) ?? byLabel(name.toLowerCase()) ?? byCode(name) ?? byPlaceCode(name) ?? bySmallCode(name);
}

function byFlag(name: string): string | null {
  for (const [pair] of name.matchAll(/[\u{1F1E6}-\u{1F1FF}]{2}/gu)) {
    const code = Array.from(pair, (symbol) => String.fromCharCode(symbol.codePointAt(0)! - 0x1f1e6 + 65)).join('');
    if (known.has(code)) return code;
  }
  return null;
}

function byLabel(name: string): string | null {
  for (const [label, code] of labels) {
    const at = name.indexOf(label);
    if (at !== -1 && standsAlone(name, at, label)) return code;
  }
  return null;
}

/**
 * A Latin or Cyrillic label must not be part of a longer word ("oman" in "romania"); Chinese has no spaces between
 * words.
 */
function standsAlone(name: string, at: number, label: string): boolean {
  const letter = /[\p{Script=Latin}\p{Script=Cyrillic}]/u;
  if (!letter.test(label[0]!)) return true;
  return !letter.test(name[at - 1] ?? ' ') && !letter.test(name[at + label.length] ?? ' ');
}

function byCode(name: string): string | null {
  for (const match of name.matchAll(/(?<![A-Za-z])([A-Z]{2})(?![A-Za-z])/g)) {
    const [code = ''] = match;
    const [before, after] = [name.slice(0, match.index), name.slice(match.index + 2)];
    if (code === 'UK') return 'GB';
    if (!known.has(code) || NEVER.has(code) || isPartOfTerm(code, before, after)) continue;
    if (WORDS.has(code) && (/[a-z]['&]?[ &]$/i.test(before) || /^(['&]| +[a-z]{2})/i.test(after))) continue;
    return code;
  }
  return null;
}

/** `AT&T`, the network CN2, and quantities such as `100 GB`. */
function isPartOfTerm(code: string, before: string, after: string): boolean {
  return after.startsWith('&') || (code === 'CN' && after.startsWith('2')) || (code === 'GB' && /\d ?$/.test(before));
}

function byPlaceCode(name: string): string | null {
  for (const match of name.matchAll(/(?<!\p{L})([A-Za-z]{3})(?!\p{L})/gu)) {
    const [code = ''] = match;
    const country = PLACE_CODES.get(code.toUpperCase());
    const isWord = WORDS_AMONG_CODES.has(code.toUpperCase()) && code !== code.toUpperCase();
    if (country === undefined || (isWord && !/^\d/.test(name.slice(match.index + 3)))) continue;
    return country;
  }
  return null;
}

/** `hk1`, `jp-02`, `1.jp.example`; not the last label of a domain, and not a word between words. */
function bySmallCode(name: string): string | null {
  for (const match of name.matchAll(/(?<![\p{L}])([a-z]{2})(?!\p{L})/gu)) {
    const [code = ''] = match;
    const [before, after] = [name.slice(0, match.index), name.slice(match.index + 2)];
    if (/[\p{L}\d-]\.$/u.test(before) && !/^[.\d]/.test(after)) continue;
    const beforeNumber = /^\d/.test(after);
    const stands = beforeNumber || /^($|[-_.|)\]/]| *\d)/.test(after);
    if (!stands || !(SMALL.has(code) || (beforeNumber && SMALL_BEFORE_NUMBER.has(code)))) continue;
    return code === 'uk' ? 'GB' : code.toUpperCase();
  }
  return null;
}
