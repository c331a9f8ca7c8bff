/**
 * Reads the YAML that Clash generators write: one-line flow mappings, and block mappings of plain and quoted scalars.
 * Anything else gives `UNUSUAL` and is left to the YAML package; the two must agree. All scalars stay texts (`0123` and
 * `1e5` are passwords here), and a plain null is null.
 */
export const UNUSUAL = Symbol('unusual');
type Unusual = typeof UNUSUAL;
type Value = string | null | Value[] | { [key: string]: Value };

// oxlint-disable-next-line no-control-regex -- control characters, tabs and unusual line breaks are left to the package
const STRANGE =
  // oxlint-disable-next-line no-control-regex -- the very ones looked for
  /[\u0000-\u0009\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]|\p{Surrogate}|\r(?!\n|$)/u;
const KEY = /([A-Za-z0-9_][A-Za-z0-9_.-]*)/y;
const NULL = /^(?:~|null|Null|NULL)?$/;
/** Characters that certainly begin a plain scalar. */
const PLAIN_START = /[A-Za-z0-9_/.+$(^=;\\~<\u00a1-\ud7ff\ud800-\udfff\ue000-\ufffd]/;
const FLOW_PLAIN = /[^,[\]{}]*/y;

/** Reads one list entry, given from its dash on. `UNUSUAL` when the package must read it. */
export function readFastEntry(lines: readonly string[]): Value | Unusual {
  for (const line of lines) if (STRANGE.test(line)) return UNUSUAL;
  const block: Line[] = [];
  for (const raw of lines) {
    const line = measure(raw);
    if (line.text !== '' && !line.text.startsWith('#')) block.push(line);
  }
  const first = block[0];
  if (first === undefined || !first.text.startsWith('- ')) return UNUSUAL;
  const inner = measure(first.text.slice(1));
  if (inner.text.startsWith('{')) return block.length === 1 ? new FlowReader(inner.text).whole() : UNUSUAL;
  block[0] = { indent: first.indent + 1 + inner.indent, text: inner.text };
  return new BlockReader(block).whole();
}

interface Line {
  indent: number;
  text: string;
}

function measure(raw: string): Line {
  let start = 0;
  while (raw.charCodeAt(start) === 32) start += 1;
  let end = raw.length;
  while (end > start && (raw.charCodeAt(end - 1) === 32 || raw.charCodeAt(end - 1) === 13)) end -= 1;
  return { indent: start, text: raw.slice(start, end) };
}

/** Reads a plain scalar; null for a plain null. */
function plain(text: string): string | null | Unusual {
  if (NULL.test(text)) return null;
  const start = text[0] === '-' ? text[1] : text[0];
  if (start === undefined || !PLAIN_START.test(start)) return UNUSUAL;
  if (text.includes(': ') || text.includes(' #') || text.endsWith(':')) return UNUSUAL;
  return text;
}

const ESCAPE = /\\(?:(["\\/bfnrt])|u([0-9A-Fa-f]{4})|x([0-9A-Fa-f]{2})|U([0-9A-Fa-f]{8})|[^])/g;
const SHORT: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** Text of a double-quoted scalar, given without its quotes. */
function unescape(body: string): string | Unusual {
  if (!body.includes('\\')) return body;
  let strange = false;
  const text = body.replace(ESCAPE, (_all, short?: string, u?: string, x?: string, long?: string) => {
    if (short !== undefined) return SHORT[short] ?? short;
    const code = Number.parseInt(u ?? x ?? long ?? '', 16);
    if (!(code <= 0x10ffff)) strange = true;
    return strange ? '' : String.fromCodePoint(code);
  });
  return strange ? UNUSUAL : text;
}

/** Ends of a quoted scalar that begins at `start`: the index of the closing quote, or -1. */
function closingQuote(text: string, start: number): number {
  const quote = text[start];
  for (let i = start + 1; i < text.length; i += 1) {
    const character = text[i];
    if (quote === '"' && character === '\\') i += 1;
    else if (character === quote) {
      if (quote === "'" && text[i + 1] === "'") i += 1;
      else return i;
    }
  }
  return -1;
}

function quoted(text: string, start: number, end: number): string | Unusual {
  const body = text.slice(start + 1, end);
  return text[start] === '"' ? unescape(body) : body.replaceAll("''", "'");
}

const MAX_DEPTH = 8;

class FlowReader {
  private readonly text: string;
  private at = 0;
  private depth = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** The value, if it is the whole text. */
  whole(): Value | Unusual {
    const value = this.value();
    return this.at === this.text.length ? value : UNUSUAL;
  }

  private value(): Value | Unusual {
    const start = this.text[this.at];
    if (start === '{' || start === '[') {
      this.depth += 1;
      if (this.depth > MAX_DEPTH) return UNUSUAL;
      const value = start === '{' ? this.mapping() : this.sequence();
      this.depth -= 1;
      return value;
    }
    return start === '"' || start === "'" ? this.quoted() : this.plain();
  }

  private mapping(): Value | Unusual {
    const map: { [key: string]: Value } = {};
    this.at += 1;
    this.spaces();
    while (this.text[this.at] !== '}') {
      const key = this.key();
      if (key === UNUSUAL || Object.hasOwn(map, key)) return UNUSUAL;
      this.spaces();
      const value = this.value();
      if (value === UNUSUAL) return UNUSUAL;
      map[key] = value;
      if (!this.next('}')) return UNUSUAL;
    }
    this.at += 1;
    return map;
  }

  private sequence(): Value | Unusual {
    const list: Value[] = [];
    this.at += 1;
    this.spaces();
    while (this.text[this.at] !== ']') {
      const value = this.value();
      if (value === UNUSUAL || value === null) return UNUSUAL;
      list.push(value);
      if (!this.next(']')) return UNUSUAL;
    }
    this.at += 1;
    return list;
  }

  /** Steps over a comma; false when neither it nor the end follows. */
  private next(end: string): boolean {
    this.spaces();
    if (this.text[this.at] === end) return true;
    if (this.text[this.at] !== ',') return false;
    this.at += 1;
    this.spaces();
    return true;
  }

  private key(): string | Unusual {
    let key: string | Unusual;
    const isQuoted = this.text[this.at] === '"' || this.text[this.at] === "'";
    if (isQuoted) key = this.quoted();
    else {
      KEY.lastIndex = this.at;
      key = KEY.exec(this.text)?.[1] ?? UNUSUAL;
      if (key !== UNUSUAL) this.at += key.length;
    }
    if (key === UNUSUAL || !isPlainKey(key) || this.text[this.at] !== ':') return UNUSUAL;
    this.at += 1;
    return isQuoted || this.text[this.at] === ' ' ? key : UNUSUAL;
  }

  private quoted(): string | Unusual {
    const end = closingQuote(this.text, this.at);
    if (end === -1) return UNUSUAL;
    const value = quoted(this.text, this.at, end);
    this.at = end + 1;
    return value;
  }

  private plain(): string | null | Unusual {
    FLOW_PLAIN.lastIndex = this.at;
    const token = FLOW_PLAIN.exec(this.text)?.[0] ?? '';
    let end = token.length;
    while (end > 0 && token.charCodeAt(end - 1) === 32) end -= 1;
    this.at += token.length;
    return plain(token.slice(0, end));
  }

  private spaces(): void {
    while (this.text.charCodeAt(this.at) === 32) this.at += 1;
  }
}

/** Whether a key is not null, not a merge key and safe as a property name. */
function isPlainKey(key: string): boolean {
  return key !== '' && key !== '__proto__' && !NULL.test(key) && key !== '<<';
}

class BlockReader {
  private readonly lines: readonly Line[];
  private at = 0;

  constructor(lines: readonly Line[]) {
    this.lines = lines;
  }

  whole(): Value | Unusual {
    const value = this.mapping(this.lines[0]?.indent ?? 0, 0);
    return this.at === this.lines.length ? value : UNUSUAL;
  }

  private mapping(indent: number, depth: number): Value | Unusual {
    const map: { [key: string]: Value } = {};
    if (depth > MAX_DEPTH) return UNUSUAL;
    for (let line = this.lines[this.at]; line?.indent === indent; line = this.lines[this.at]) {
      KEY.lastIndex = 0;
      const key = KEY.exec(line.text)?.[1];
      if (key === undefined || !isPlainKey(key) || Object.hasOwn(map, key)) return UNUSUAL;
      if (line.text[key.length] !== ':') return UNUSUAL;
      const rest = line.text.slice(key.length + 1);
      if (rest !== '' && !rest.startsWith(' ')) return UNUSUAL;
      this.at += 1;
      const value = rest === '' ? this.nested(indent, depth) : scalarOrFlow(measure(rest).text);
      if (value === UNUSUAL) return UNUSUAL;
      map[key] = value;
    }
    return map;
  }

  /** Reads the value below a key that has none on its line. */
  private nested(indent: number, depth: number): Value | Unusual {
    const line = this.lines[this.at];
    if (line === undefined || line.indent < indent) return null;
    if (line.text.startsWith('- ')) return this.sequence(line.indent);
    if (line.indent === indent) return null;
    return this.mapping(line.indent, depth + 1);
  }

  private sequence(indent: number): Value | Unusual {
    const list: Value[] = [];
    for (let line = this.lines[this.at]; line?.indent === indent; line = this.lines[this.at]) {
      if (!line.text.startsWith('- ')) break;
      const value = scalarOrFlow(measure(line.text.slice(1)).text);
      if (value === UNUSUAL || value === null) return UNUSUAL;
      list.push(value);
      this.at += 1;
    }
    return list;
  }
}

function scalarOrFlow(text: string): Value | Unusual {
  const start = text[0];
  if (start === '{' || start === '[') return new FlowReader(text).whole();
  if (start !== '"' && start !== "'") return plain(text);
  const end = closingQuote(text, 0);
  return end === text.length - 1 ? quoted(text, 0, end) : UNUSUAL;
}
