import { RuleSetFileError } from './rule-set-file-error.js';

export interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string;
  /** Set if the line itself is invalid, whatever the entry. */
  readonly problem: string | null;
}

const MAX_LINE = 4096;
const COMMENT = /^(#|\/\/|;)/;

/** One entry per line; empty lines and comments (`#`, `//`, `;`) are skipped. */
export function* textLines(content: Buffer): Generator<Line> {
  if (content.includes(0)) throw new RuleSetFileError('not a text file');
  for (const { number, text } of linesOf(content)) {
    const entry = withoutComment(text.trim());
    if (entry !== '') yield checked(number, entry);
  }
}

/**
 * Reads the list under `payload:` of a rule provider in its usual form: one entry per line, plain or quoted. Other YAML
 * is refused.
 */
export function* yamlLines(content: Buffer): Generator<Line> {
  if (content.includes(0)) throw new RuleSetFileError('not a text file');
  let state: 'before' | 'inside' | 'behind' = 'before';
  for (const { number, text } of linesOf(content)) {
    const line = text.trimEnd();
    if (line === '' || /^\s*#/.test(line) || line === '---') continue;
    const key = /^(["']?)([\w-]+)\1\s*:\s*(.*)$/.exec(line);
    if (key) {
      state = key[2] === 'payload' ? startOf(key[3] ?? '') : state === 'inside' ? 'behind' : state;
      continue;
    }
    if (state !== 'inside') continue;
    const item = /^\s*-\s*(.*)$/.exec(line);
    if (item) yield { ...checked(number, ''), ...scalarOf(number, item[1] ?? '') };
    else yield { number, text: line.trim(), problem: 'not an entry of a list' };
  }
  if (state === 'before') throw new RuleSetFileError('no list under payload');
}

function startOf(value: string): 'inside' | 'behind' {
  const rest = withoutComment(value.trim());
  if (rest === '') return 'inside';
  if (/^\[\s*\]$/.test(rest)) return 'behind';
  throw new RuleSetFileError('payload is no list with one entry a line');
}

function scalarOf(number: number, written: string): Line {
  const single = /^'((?:[^']|'')*)'\s*(#.*)?$/.exec(written);
  if (single) return checked(number, (single[1] ?? '').replaceAll("''", "'").trim());
  const double = /^("(?:[^"\\]|\\.)*")\s*(#.*)?$/.exec(written);
  if (double) return fromDoubleQuoted(number, double[1] ?? '');
  if (/^['"[{&*!|>%@`]/.test(written) && !/^\*(\.|$)/.test(written)) {
    return { number, text: written, problem: 'not a plain or quoted text' };
  }
  return checked(number, withoutComment(written.trim()));
}

/** YAML's escapes are those of JSON, and a few more that entries do not need. */
function fromDoubleQuoted(number: number, quoted: string): Line {
  try {
    return checked(number, String(JSON.parse(quoted)).trim());
  } catch {
    // Not JSON: an escape that only YAML has.
    return { number, text: quoted, problem: 'an escape that is not known' };
  }
}

function checked(number: number, text: string): Line {
  return { number, text, problem: text.length > MAX_LINE ? `longer than ${MAX_LINE} characters` : null };
}

function withoutComment(text: string): string {
  if (COMMENT.test(text)) return '';
  const at = text.search(/\s(#|\/\/)/);
  return at < 0 ? text : text.slice(0, at).trimEnd();
}

function* linesOf(content: Buffer): Generator<{ number: number; text: string }> {
  let number = 0;
  for (let start = content.subarray(0, 3).toString('hex') === 'efbbbf' ? 3 : 0; start <= content.length;) {
    const end = content.indexOf(10, start);
    const stop = end < 0 ? content.length : end;
    // Cut before decoding, because a single line may be as long as the file.
    yield { number: ++number, text: content.toString('utf8', start, Math.min(stop, start + MAX_LINE * 4)) };
    start = stop + 1;
  }
}
