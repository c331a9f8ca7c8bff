/** Parses the part of regular expression syntax that a finite automaton can run. */
import { RuleError } from './rule-error.js';

/** Membership by ASCII code, since hosts are ASCII. */
export type CharSet = Uint8Array;
export type Assertion = 'start' | 'end' | 'boundary' | 'not-boundary';

export type RegexNode =
  | { kind: 'set'; set: CharSet }
  | { kind: 'assert'; assertion: Assertion }
  | { kind: 'sequence'; items: RegexNode[] }
  | { kind: 'choice'; options: RegexNode[] }
  | { kind: 'repeat'; item: RegexNode; min: number; max: number };

const MAX_PATTERN = 512;
const MAX_DEPTH = 32;
const MAX_REPEAT = 255;

const charSet = (has: (char: string) => boolean): CharSet =>
  Uint8Array.from({ length: 128 }, (_, code) => (has(String.fromCharCode(code)) ? 1 : 0));
const WORD = charSet((char) => /\w/.test(char));
const CLASSES: Readonly<Record<string, CharSet>> = {
  d: charSet((char) => /\d/.test(char)),
  D: charSet((char) => /\D/.test(char)),
  w: WORD,
  W: charSet((char) => /\W/.test(char)),
  s: charSet((char) => /\s/.test(char)),
  S: charSet((char) => /\S/.test(char)),
};
const ANY = charSet((char) => char !== '\n' && char !== '\r');

export function isWordCode(code: number): boolean {
  return WORD[code] === 1;
}

/** @throws RuleError for bad syntax and for what needs backtracking: look-around, back references, possessive quantifiers. */
export function parseRegex(pattern: string): RegexNode {
  return new RegexReader(pattern).read();
}

class RegexReader {
  readonly #pattern: string;
  #at = 0;
  #depth = 0;

  constructor(pattern: string) {
    this.#pattern = pattern;
  }

  read(): RegexNode {
    if (this.#pattern === '') throw this.#error('an empty pattern');
    if (this.#pattern.length > MAX_PATTERN) throw this.#error(`a pattern of more than ${MAX_PATTERN} characters`);
    const node = this.#choice();
    if (this.#at < this.#pattern.length) throw this.#error('a ) that closes nothing');
    return node;
  }

  #error(what: string): RuleError {
    return new RuleError('payload', `not a usable regular expression: ${what} at position ${this.#at}`);
  }

  #take(text: string): boolean {
    if (!this.#pattern.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #choice(): RegexNode {
    const options = [this.#sequence()];
    while (this.#take('|')) options.push(this.#sequence());
    return options.length === 1 && options[0] ? options[0] : { kind: 'choice', options };
  }

  #sequence(): RegexNode {
    const items: RegexNode[] = [];
    while (this.#at < this.#pattern.length && !'|)'.includes(this.#pattern[this.#at] ?? ''))
      items.push(this.#quantified());
    return { kind: 'sequence', items };
  }

  #quantified(): RegexNode {
    const item = this.#atom();
    const range = this.#quantifier();
    if (!range) return item;
    if (item.kind === 'assert') throw this.#error('a quantifier on an assertion');
    this.#take('?'); // Lazy or greedy makes no difference to whether there is a match.
    if (this.#quantifier()) throw this.#error('a quantifier on a quantifier');
    return { kind: 'repeat', item, ...range };
  }

  #quantifier(): { min: number; max: number } | null {
    if (this.#take('*')) return { min: 0, max: Infinity };
    if (this.#take('+')) return { min: 1, max: Infinity };
    if (this.#take('?')) return { min: 0, max: 1 };
    const counted = /^\{(\d{1,6})(,(\d{0,6}))?\}/.exec(this.#pattern.slice(this.#at, this.#at + 16));
    if (!counted) return null;
    const min = Number(counted[1]);
    const max = counted[2] === undefined ? min : counted[3] ? Number(counted[3]) : Infinity;
    if (min > max) throw this.#error('a repetition that runs backwards');
    if (min > MAX_REPEAT || (max > MAX_REPEAT && max !== Infinity))
      throw this.#error(`more than ${MAX_REPEAT} repetitions`);
    this.#at += counted[0].length;
    return { min, max };
  }

  #atom(): RegexNode {
    if (this.#take('(')) return this.#group();
    if (this.#take('[')) return { kind: 'set', set: this.#class() };
    if (this.#take('^')) return { kind: 'assert', assertion: 'start' };
    if (this.#take('$')) return { kind: 'assert', assertion: 'end' };
    if (this.#take('.')) return { kind: 'set', set: ANY };
    if (this.#take('\\b')) return { kind: 'assert', assertion: 'boundary' };
    if (this.#take('\\B')) return { kind: 'assert', assertion: 'not-boundary' };
    if ('*+?'.includes(this.#pattern[this.#at] ?? '')) throw this.#error('a quantifier on nothing');
    const set = new Uint8Array(128);
    addFolded(set, this.#codes());
    return { kind: 'set', set };
  }

  #group(): RegexNode {
    if (++this.#depth > MAX_DEPTH) throw this.#error(`groups more than ${MAX_DEPTH} deep`);
    if (/^\?(=|!|<=|<!)/.test(this.#pattern.slice(this.#at, this.#at + 3)))
      throw this.#error('look-around, which is not supported,');
    const named = /^\?(:|<[A-Za-z]\w*>|P<[A-Za-z]\w*>)/.exec(this.#pattern.slice(this.#at, this.#at + 64));
    if (named) this.#at += named[0].length;
    else if (this.#pattern[this.#at] === '?') throw this.#error('an unknown kind of group');
    const node = this.#choice();
    if (!this.#take(')')) throw this.#error('a ( that is not closed');
    this.#depth--;
    return node;
  }

  #class(): CharSet {
    const set = new Uint8Array(128);
    const negated = this.#take('^');
    while (!this.#take(']')) {
      if (this.#at >= this.#pattern.length) throw this.#error('a [ that is not closed');
      addFolded(set, this.#classItem());
    }
    return negated ? set.map((bit) => 1 - bit) : set;
  }

  #classItem(): number[] {
    const from = this.#codes();
    const next = this.#pattern[this.#at + 1];
    if (this.#pattern[this.#at] !== '-' || next === undefined || next === ']') return from;
    this.#at++;
    const to = this.#codes();
    const [first = 0] = from;
    const [last = 0] = to;
    if (from.length !== 1 || to.length !== 1 || first > last) throw this.#error('a range that is none');
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  }

  /** One character or one escape, as the codes that it matches. */
  #codes(): number[] {
    const char = this.#pattern[this.#at++] ?? '';
    if (char.charCodeAt(0) > 127) throw this.#error('a character outside ASCII (write such names in Punycode)');
    if (char <= ' ') throw this.#error('a space, which no domain name has,');
    if (char !== '\\') return [char.charCodeAt(0)];
    const escaped = this.#pattern[this.#at++] ?? '';
    const named = Object.hasOwn(CLASSES, escaped) ? CLASSES[escaped] : undefined;
    if (named) return [...named.keys()].filter((code) => named[code] === 1);
    if (escaped === '' || /[A-Za-z0-9]/.test(escaped) || escaped.charCodeAt(0) > 127)
      throw this.#error('an unknown escape or a back reference');
    return [escaped.charCodeAt(0)];
  }
}

/** Case is ignored: hosts are in lower case, so an upper-case letter also matches its lower-case form. */
function addFolded(set: CharSet, codes: readonly number[]): void {
  for (const code of codes) {
    set[code] = 1;
    if (code >= 65 && code <= 90) set[code + 32] = 1;
    if (code >= 97 && code <= 122) set[code - 32] = 1;
  }
}
