import { isMap, isNode, isSeq, LineCounter, parseDocument } from 'yaml';
import type { Document } from 'yaml';
import { FormatError } from '../errors.js';

/** How many values aliases may expand to, in total. */
const MAX_ALIASES = 10_000;
/** Longest text given to the package, which reads only 0.3 to 1 MiB a second. */
export const MAX_PACKAGE_LENGTH = 2 * 1024 * 1024;

/** Reads YAML with all its features; scalars stay texts, nulls are null. @throws FormatError */
export function readYaml(text: string): unknown {
  return toValue(open(text));
}

/** The items of the list under one of `keys`, or of a list at the top, each with its line. */
export function readYamlList(text: string, keys: readonly string[]): { line: number; value: unknown }[] | undefined {
  const counter = new LineCounter();
  const document = open(text, counter);
  const root = document.contents;
  const holder = isMap(root) ? keys.map((key) => root.get(key, true)).find((node) => isSeq(node)) : root;
  if (!isSeq(holder)) return undefined;
  const value = toValue(document);
  const list = Array.isArray(value)
    ? value
    : keys.map((key) => (value as Record<string, unknown>)[key]).find(Array.isArray);
  if (list === undefined) return undefined;
  return list.map((item: unknown, index) => {
    const node = holder.items[index];
    const offset = isNode(node) ? (node.range?.[0] ?? 0) : 0;
    return { line: counter.linePos(offset).line, value: item };
  });
}

/** A document with the lines of its parts. */
export interface YamlDocument {
  value: unknown;
  /** Line of the value at a path; of the closest one around it where there is none. */
  lineOf: (path: readonly (string | number)[]) => number;
}

/**
 * Reads a document that people wrote, which has to be right as a whole.
 * @param refuse throws for what is wrong in a line.
 */
export function readYamlDocument(
  text: string,
  refuse: (line: number | null, problem: FormatError) => never,
): YamlDocument {
  const counter = new LineCounter();
  try {
    const document = open(text, counter, (offset) => {
      const { line } = counter.linePos(offset);
      return (problem) => refuse(line, problem);
    });
    return { value: toValue(document), lineOf: (path) => counter.linePos(offsetOf(document, path)).line };
  } catch (error) {
    if (error instanceof FormatError) return refuse(null, error);
    throw error;
  }
}

function offsetOf(document: Document.Parsed, path: readonly (string | number)[]): number {
  for (let length = path.length; length > 0; length -= 1) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node)) return node.range?.[0] ?? 0;
  }
  return 0;
}

type Refusal = (problem: FormatError) => never;

function open(text: string, lineCounter?: LineCounter, at?: (offset: number) => Refusal): Document.Parsed {
  if (text.length > MAX_PACKAGE_LENGTH) {
    throw new FormatError('too_large', 'YAML of this kind is read up to 2 MiB only');
  }
  const document = attempt(() =>
    parseDocument(text, {
      version: '1.2',
      schema: 'failsafe',
      customTags: ['null', 'merge'],
      merge: true,
      // Unique keys are not checked: that compares all pairs of keys. The last of equal keys wins, as in JSON.
      uniqueKeys: false,
      logLevel: 'silent',
      prettyErrors: false,
      ...(lineCounter === undefined ? {} : { lineCounter }),
    }),
  );
  const [problem] = document.errors;
  if (problem?.code === 'RESOURCE_EXHAUSTION') throw new FormatError('too_deep', 'the YAML nests too deep');
  if (problem !== undefined) {
    const invalid = new FormatError('invalid_yaml', `not valid YAML (${problem.code})`);
    if (at) at(problem.pos[0])(invalid);
    throw invalid;
  }
  return document;
}

function toValue(document: Document.Parsed): unknown {
  return attempt(() => document.toJS({ maxAliasCount: MAX_ALIASES }) as unknown);
}

/** Converts errors of the package. Its parser and its expansion of aliases are recursive, so they may overflow the stack. */
function attempt<T>(action: () => T): T {
  try {
    return action();
  } catch (cause) {
    if (cause instanceof RangeError) throw new FormatError('too_deep', 'the YAML nests too deep', { cause });
    if (cause instanceof ReferenceError) {
      throw new FormatError('too_many_aliases', 'the YAML has too many or unresolved aliases', { cause });
    }
    throw new FormatError('invalid_yaml', 'not valid YAML', { cause });
  }
}
