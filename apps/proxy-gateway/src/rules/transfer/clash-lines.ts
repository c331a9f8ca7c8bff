import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Document, Node } from 'yaml';
import { invalidText } from './import-input.js';

export interface ClashLine {
  line: number;
  input: string;
  /** A scalar in quotes or a block: a `#` in it begins no comment. */
  quoted?: boolean;
}

/** The YAML parser reads any text of this size quickly. Lists with one plain rule per line have no such limit. */
const MAX_GENERAL_CHARS = 32 * 1024;
const MAX_ITEM = 4_096;
const KEY = /^(?:rules|payload)[ \t]*:(.*)$/;

/**
 * The entries of the `rules:` (or `payload:`) list of a Clash document and the comments between them, with line
 * numbers.
 * @throws AppError INVALID_ARGUMENT for a document that cannot be read.
 */
export function readClashLines(lines: readonly string[]): ClashLine[] {
  return readPlainList(lines) ?? readDocument(lines);
}

/** Reads one scalar per line, the usual form. Null if a line needs a YAML parser. */
function readPlainList(lines: readonly string[]): ClashLine[] | null {
  const start = lines.findIndex((line) => KEY.test(line));
  if (lines.findIndex((line, index) => index > start && KEY.test(line)) >= 0) return null;
  if (!isOpen(KEY.exec(lines[start] ?? '')?.[1] ?? '')) return null;
  const found: ClashLine[] = [];
  let indent: number | null = null;
  for (let at = start + 1; at < lines.length; at++) {
    const text = lines[at] ?? '';
    if (/^\s*(#|$)/.test(text)) {
      found.push({ line: at + 1, input: text });
      continue;
    }
    const [, space, item] = /^( *)-\s+(.*)$/.exec(text) ?? [];
    if (space === undefined || item === undefined) return /^[\w"'.]/.test(text) ? found : null;
    indent ??= space.length;
    const value = space.length === indent ? readItem(item.trim()) : null;
    if (value === null) return null;
    found.push({ line: at + 1, input: value, quoted: true });
  }
  return found;
}

/** Whether the text behind a list's key leaves the entries to the following lines. */
function isOpen(rest: string): boolean {
  const text = rest.trim();
  return text === '' || text === '[]' || text.startsWith('#');
}

/** Null for YAML that needs a parser. */
function readItem(text: string): string | null {
  // Too long for a rule: it will be rejected with its text.
  return text.length > MAX_ITEM ? text : readScalar(text);
}

function readScalar(text: string): string | null {
  if (text.startsWith('"')) {
    const [, quoted] = /^("(?:[^"\\]|\\.)*")\s*(?:#.*)?$/.exec(text) ?? [];
    return quoted === undefined ? null : parseJsonString(quoted);
  }
  if (text.startsWith("'")) {
    const [, quoted] = /^'((?:[^']|'')*)'\s*(?:#.*)?$/.exec(text) ?? [];
    return quoted === undefined ? null : quoted.replaceAll("''", "'");
  }
  const plain = text.replace(/\s#.*$/, '').trimEnd();
  return /^[^&*!|>%@`{[\]},?:-]/.test(plain) && !/:(\s|$)/.test(plain) ? plain : null;
}

function parseJsonString(text: string): string | null {
  try {
    return JSON.parse(text) as string;
  } catch {
    return null; // an escape that YAML has and JSON has not
  }
}

function readDocument(lines: readonly string[]): ClashLine[] {
  const { text, linesBefore } = relevantPart(lines);
  const counter = new LineCounter();
  const document = parseYaml(text, counter);
  const lineAt = (offset: number): number => counter.linePos(offset).line + linesBefore;
  const [error] = document.errors;
  if (error) throw invalidText(`is not valid YAML: ${error.message} (line ${lineAt(error.pos[0])})`);
  const list = isMap(document.contents) ? (document.get('rules') ?? document.get('payload')) : null;
  if (list === null || list === undefined) return [];
  if (!isSeq(list)) throw invalidText('has no list under "rules"');
  return list.items.map((item) => {
    const node = item as Node;
    return { line: lineAt(node.range?.[0] ?? 0), input: valueOf(node, document), quoted: true };
  });
}

/** The whole document, since its aliases may be needed; of a large one only the list. */
function relevantPart(lines: readonly string[]): { text: string; linesBefore: number } {
  const whole = lines.join('\n');
  if (whole.length <= MAX_GENERAL_CHARS) return { text: whole, linesBefore: 0 };
  const start = lines.findIndex((line) => KEY.test(line));
  const length = lines.slice(start + 1).findIndex((line) => /^[\w"']/.test(line));
  const text = lines.slice(start, length < 0 ? undefined : start + 1 + length).join('\n');
  if (text.length <= MAX_GENERAL_CHARS) return { text, linesBefore: start };
  throw invalidText('is too large for YAML of this form: write one rule a line');
}

function parseYaml(text: string, lineCounter: LineCounter): Document {
  try {
    return parseDocument(text, { lineCounter, uniqueKeys: false, prettyErrors: false });
  } catch (error) {
    // The parser recurses for nested lists.
    if (error instanceof RangeError) throw invalidText('is nested too deeply', error);
    throw error;
  }
}

function valueOf(node: Node, document: Document): string {
  const target = isAlias(node) ? node.resolve(document) : node;
  const value: unknown = isScalar(target) ? target.value : undefined;
  if (typeof value === 'string') return value;
  return value === null ? 'null' : '(not a rule line)';
}
