/** The comma-separated lines that Surge, Loon and Quantumult X write for a proxy. */

export const MAX_LINE_LENGTH = 65_536;

/** A quoted value ends at a quote with a comma or the end behind it, so a value may contain quotes. */
const CLOSING_QUOTE = /"[ \t]*(?:,|$)/g;
const HEADER_START = /^[ \t]*"?[A-Za-z0-9!#$%&'*+.^_`|~-]+"?[ \t]*:/;

/** Splits at commas that are not within double quotes. */
export function splitLine(text: string): string[] {
  const parts: string[] = [];
  let start = 0;
  while (start <= text.length) {
    const end = partEnd(text, start);
    parts.push(text.slice(start, end).trim());
    start = end + 1;
  }
  return parts;
}

function partEnd(text: string, start: number): number {
  const opening = openingQuote(text, start);
  if (opening !== -1) {
    CLOSING_QUOTE.lastIndex = opening + 1;
    const closing = CLOSING_QUOTE.exec(text);
    if (closing !== null) return closing.index + closing[0].length - (closing[0].endsWith(',') ? 1 : 0);
  }
  let quoted = false;
  for (let at = start; at < text.length; at += 1) {
    if (text[at] === '"') quoted = !quoted;
    else if (text[at] === ',' && !quoted) return at;
  }
  return quoted ? firstComma(text, start) : text.length;
}

/** A quote that is never closed is a part of the value. */
function firstComma(text: string, start: number): number {
  const comma = text.indexOf(',', start);
  return comma === -1 ? text.length : comma;
}

/** Where the value of a part begins with a quote, directly or behind its key; -1 if it does not. */
function openingQuote(text: string, start: number): number {
  const found = /^[ \t]*(?:[A-Za-z0-9_-]+[ \t]*=[ \t]*)?"/.exec(text.slice(start, start + 128));
  return found === null ? -1 : start + found[0].length - 1;
}

export function unquote(text: string): string {
  return text.length >= 2 && text.startsWith('"') && text.endsWith('"') ? text.slice(1, -1) : text;
}

/** The parts of a line: positional ones, then `key=value` pairs with keys in lower case. */
export class LineOptions {
  private readonly places: string[] = [];
  private readonly pairs = new Map<string, string>();

  /** The first `positional` parts have no keys, whatever they contain. */
  constructor(parts: readonly string[], positional: number) {
    for (const part of parts) {
      const equals = part.indexOf('=');
      const key = part.slice(0, Math.max(equals, 0)).trim().toLowerCase();
      if (this.places.length >= positional && /^[a-z0-9_-]+$/.test(key)) {
        this.pairs.set(key, unquote(part.slice(equals + 1).trim()));
      } else this.places.push(unquote(part));
    }
  }

  /** The positional part at `index`; absent if it is empty. */
  place(index: number): string | undefined {
    const value = this.places[index];
    return value === '' ? undefined : value;
  }

  /** The value of the first of these keys that has one. */
  get(...keys: string[]): string | undefined {
    return keys.map((key) => this.pairs.get(key)).find((value) => value !== undefined && value !== '');
  }

  /** Undefined if none of the keys has a value. */
  flag(...keys: string[]): boolean | undefined {
    const value = this.get(...keys)?.toLowerCase();
    return value === undefined ? undefined : value === 'true' || value === '1';
  }

  isOn(...keys: string[]): boolean {
    return this.flag(...keys) === true;
  }

  /** Whether the value says no; one that is neither yes nor no does not. */
  isOff(...keys: string[]): boolean {
    return ['false', '0'].includes(this.get(...keys)?.toLowerCase() ?? '');
  }
}

/** Reads `Name: value` pairs with a separator between them. A separator without a name behind it belongs to the value. */
export function readHeaderPairs(text: string | undefined, separator: '|' | ';' | '[Rr][Nn]'): Record<string, string> {
  const headers: Record<string, string> = {};
  let pair = '';
  for (const part of (text ?? '').split(separator)) {
    if (pair !== '' && !HEADER_START.test(part)) pair += separator + part;
    else {
      addHeader(headers, pair);
      pair = part;
    }
  }
  addHeader(headers, pair);
  return headers;
}

function addHeader(headers: Record<string, string>, pair: string): void {
  const colon = pair.indexOf(':');
  const name = unquote(pair.slice(0, Math.max(colon, 0)).trim());
  if (name !== '' && name !== '__proto__') headers[name] = unquote(pair.slice(colon + 1).trim());
}
