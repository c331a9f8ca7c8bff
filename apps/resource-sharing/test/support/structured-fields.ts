/** A reader of the lists of RFC 9651 that the RateLimit fields use, written from its section 4.2; strict. */

export interface Item {
  readonly value: string | number;
  readonly parameters: Readonly<Record<string, string | number | true>>;
}

/** @throws SyntaxError for what is no list of strings, integers and tokens with parameters. */
export function parseList(text: string): Item[] {
  const reader = new Reader(text);
  const items: Item[] = [];
  reader.spaces();
  while (!reader.atEnd()) {
    items.push(readItem(reader));
    reader.spaces();
    if (reader.atEnd()) return items;
    reader.expect(',');
    reader.spaces();
    if (reader.atEnd()) throw new SyntaxError('a list ends with a comma');
  }
  return items;
}

function readItem(reader: Reader): Item {
  const value = readBare(reader);
  const parameters: Record<string, string | number | true> = {};
  while (reader.take(';')) {
    reader.spaces();
    const key = reader.match(/[a-z*][a-z0-9_\-.*]*/y);
    parameters[key] = reader.take('=') ? readBare(reader) : true;
  }
  return { value, parameters };
}

function readBare(reader: Reader): string | number {
  if (reader.next() === '"') {
    return reader
      .match(/"(?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*"/y)
      .slice(1, -1)
      .replace(/\\(.)/g, '$1');
  }
  if (/[-0-9]/.test(reader.next())) return Number(reader.match(/-?\d{1,15}/y));
  return reader.match(/[A-Za-z*][\w!#$%&'*+.^`|~:/-]*/y);
}

class Reader {
  private at = 0;
  private readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  atEnd(): boolean {
    return this.at >= this.text.length;
  }

  next(): string {
    return this.text.charAt(this.at);
  }

  spaces(): void {
    while (this.next() === ' ') this.at += 1;
  }

  take(character: string): boolean {
    if (this.next() !== character) return false;
    this.at += 1;
    return true;
  }

  expect(character: string): void {
    if (!this.take(character)) throw new SyntaxError(`${character} is missing at ${this.at} of ${this.text}`);
  }

  match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const [found] = pattern.exec(this.text) ?? [];
    if (found === undefined) throw new SyntaxError(`unexpected at ${this.at} of ${this.text}`);
    this.at += found.length;
    return found;
  }
}
