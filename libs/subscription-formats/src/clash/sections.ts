const LIST_KEY = /^(?:proxies|Proxy)[ \t]*:(.*)$/m;
const NO_VALUE = /^[ \t]*(?:#.*)?\r?$/;
const EMPTY_LIST = /^[ \t]*(?:\[[ \t]*\]|~|null)[ \t]*(?:#.*)?\r?$/;
/** A document may name its sources of nodes in place of a list. */
const PROVIDERS_KEY = /^proxy-providers[ \t]*:/m;
/** `*name` in place of a value, or a merge key. */
const ALIAS = /(?:^|[\s[{,:-])\*[^\s,[\]{}*]|<<["']?[ \t]*:/;

export interface EntryText {
  /** Line of the dash, from 1. */
  line: number;
  lines: string[];
}

/** The entries of the `proxies:` block list of a document, cut by indentation; undefined for any other layout. */
export function cutEntries(text: string): EntryText[] | undefined {
  const heading = LIST_KEY.exec(text);
  if (heading === null) return PROVIDERS_KEY.test(text) ? [] : cutList(text, 0, 1);
  const value = heading[1] ?? '';
  if (EMPTY_LIST.test(value)) return [];
  if (!NO_VALUE.test(value)) return undefined;
  const next = heading.index + heading[0].length + 1;
  if (LIST_KEY.test(text.slice(next))) return undefined;
  return cutList(text, next, countLines(text, next) + 1);
}

export function usesAliases(entries: readonly EntryText[]): boolean {
  return entries.some((entry) =>
    entry.lines.some((line) => (line.includes('*') || line.includes('<<')) && ALIAS.test(line)),
  );
}

function countLines(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}

function cutList(text: string, start: number, firstLine: number): EntryText[] | undefined {
  const entries: EntryText[] = [];
  let dash: number | undefined;
  let current: EntryText | undefined;
  let number = firstLine - 1;
  for (const line of linesFrom(text, start)) {
    number += 1;
    const indent = line.search(/[^ ]/);
    const blank = indent === -1 || line[indent] === '#' || line[indent] === '\r';
    if (blank) {
      current?.lines.push(line);
      continue;
    }
    if (dash === undefined) {
      if (!isDash(line, indent)) return isKey(line, indent) && firstLine > 1 ? [] : undefined;
      dash = indent;
    }
    if (indent < dash || (indent === dash && !isDash(line, indent))) break;
    if (indent === dash) {
      current = { line: number, lines: [] };
      entries.push(current);
    }
    current?.lines.push(line);
  }
  return dash === undefined && firstLine === 1 ? undefined : entries;
}

function isDash(line: string, indent: number): boolean {
  const after = line[indent + 1];
  return line[indent] === '-' && (after === undefined || after === ' ' || after === '\r' || after === '\t');
}

/** Whether a line is a key at the left margin, so that the list before it was empty. */
function isKey(line: string, indent: number): boolean {
  return indent === 0 && /^[A-Za-z0-9_-]+[ \t]*:/.test(line);
}

function* linesFrom(text: string, start: number): Generator<string> {
  let at = start;
  while (at < text.length) {
    const end = text.indexOf('\n', at);
    yield text.slice(at, end === -1 ? text.length : end);
    at = end === -1 ? text.length : end + 1;
  }
}

/**
 * Blanks every top-level block that is not the list and defines no anchor. Line numbers stay the same, and a rule list of
 * ten thousand lines is not parsed needlessly.
 */
export function blankUnrelated(text: string): string {
  const out: string[] = [];
  let block: string[] = [];
  const flush = (): void => {
    const keep = block.some((line) => line.includes('&')) || LIST_KEY.test(block.join('\n'));
    for (const line of block) out.push(keep ? line : '');
    block = [];
  };
  for (const line of linesFrom(text, 0)) {
    if (/^[^\s#-]/.test(line)) flush();
    block.push(line);
  }
  flush();
  return out.join('\n');
}
