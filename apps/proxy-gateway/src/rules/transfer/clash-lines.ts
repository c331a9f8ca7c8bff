import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Document, Node } from 'yaml';
import { invalidText } from './import-input.js';

export interface ClashLine {
  line: number;
  input: string;
  /** A scalar that YAML has delimited: what looks like a comment in it is none. */
  quoted?: boolean;
}

/** The general parser takes about a second for so much; lists of one plain rule a line have no such limit. */
const MAX_GENERAL_CHARS = 2 * 1024 * 1024;
const KEY = /^(?:rules|payload)[ \t]*:(.*)$/;

/**
 * The entries of the `rules:` (or `payload:`) list of a Clash document, and the comments between them, with their lines.
 * @throws AppError INVALID_ARGUMENT for a document that cannot be read.
 */
export function readClashLines(lines: readonly string[]): ClashLine[] {
  return readPlainList(lines) ?? readDocument(lines.join('\n'));
}

/** One scalar a line, as everybody writes them. Null where YAML means something that takes a parser. */
function readPlainList(lines: readonly string[]): ClashLine[] | null {
  const start = lines.findIndex((line) => KEY.test(line));
  if (lines.findIndex((line, index) => index > start && KEY.test(line)) >= 0) return null;
  if (!/^\s*(\[\])?\s*(#.*)?$/.test(KEY.exec(lines[start] ?? '')?.[1] ?? 'x')) return null;
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
    const value = space.length === indent ? readScalar(item.trim()) : null;
    if (value === null) return null;
    found.push({ line: at + 1, input: value, quoted: true });
  }
  return found;
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
  const plain = text.replace(/\s+#.*$/, '');
  return /^[^&*!|>%@`{[\]},?:-]/.test(plain) && !/:(\s|$)/.test(plain) ? plain : null;
}

function parseJsonString(text: string): string | null {
  try {
    return JSON.parse(text) as string;
  } catch {
    return null; // an escape that YAML has and JSON has not
  }
}

function readDocument(text: string): ClashLine[] {
  if (text.length > MAX_GENERAL_CHARS) throw invalidText('is too large for YAML of this form: write one rule a line');
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, uniqueKeys: false, prettyErrors: false });
  const [error] = document.errors;
  if (error) throw invalidText(`is not valid YAML: ${error.message} (line ${counter.linePos(error.pos[0]).line})`);
  const list = isMap(document.contents) ? (document.get('rules') ?? document.get('payload')) : null;
  if (list === null || list === undefined) return [];
  if (!isSeq(list)) throw invalidText('has no list under "rules"');
  return list.items.map((item) => {
    const node = item as Node;
    return { line: counter.linePos(node.range?.[0] ?? 0).line, input: valueOf(node, document), quoted: true };
  });
}

function valueOf(node: Node, document: Document): string {
  const target = isAlias(node) ? node.resolve(document) : node;
  const value: unknown = isScalar(target) ? target.value : undefined;
  if (typeof value === 'string') return value;
  return value === null ? 'null' : '(not a rule line)';
}
