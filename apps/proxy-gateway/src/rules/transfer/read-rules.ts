import { setImmediate } from 'node:timers/promises';
import type { ImportError } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import { readDefinition } from '../rule-definition.js';
import type { StoredDefinition } from '../rule-definition.js';
import { readClashLines } from './clash-lines.js';
import { cut, invalidText } from './import-input.js';
import { disabledIn, noteIn, ruleIn } from './rule-remarks.js';
import { readRuleObject } from './rule-object.js';
import type { RuleEntry } from './rule-object.js';

export const IMPORT_FORMATS = ['text', 'clash', 'json'] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

/** A rule that was read; its target is still as written. */
export interface ReadRule extends Omit<RuleEntry, 'body'> {
  index: number;
  line: number | null;
  /** The original text. */
  input: string;
  definition: StoredDefinition;
}

export interface ReadRules {
  format: ImportFormat;
  /** The number of lines in the text, or of entries in the array. */
  total: number;
  rules: ReadRule[];
  rejected: ImportError[];
}

/** An entry that has not been parsed. */
interface Raw {
  line: number | null;
  input: string;
  value: unknown;
  note?: string;
  enabled?: boolean;
}

const MAX_LINES = 1_000_000;
/** Entries parsed before yielding to the event loop. */
const SLICE = 2_000;
const COMMENT = /^(#|\/\/|;)/;
const LIST_KEY = /^(rules|payload)[ \t]*:/;
/** Text at the margin without a colon: neither a key, an entry of a list, a comment, a marker, nor the end of a collection. */
const NO_YAML = /^[^\s#:%{}[\]"'-][^:]*$/;

/** @throws AppError INVALID_ARGUMENT for a text that is not a list of rules. */
export function readRulesText(text: string): Promise<ReadRules> {
  const clean = text.replace(/^\uFEFF/, '');
  if (/^\s*[[{]/.test(clean)) return readRulesArray(entriesOfJson(clean));
  const lines = clean.split(/\r\n|\n|\r/, MAX_LINES + 1);
  if (lines.length > MAX_LINES) throw invalidText(`has more than ${MAX_LINES} lines`);
  if (lines.at(-1) === '') lines.pop();
  const clash = isClash(lines);
  const raws = clash
    ? rawsOf(readClashLines(lines))
    : rawsOf(lines.map((input, index) => ({ line: index + 1, input })));
  return readAll(clash ? 'clash' : 'text', lines.length, raws);
}

/** Reads objects in the form of `POST /rules`, or rule lines. */
export function readRulesArray(entries: readonly unknown[]): Promise<ReadRules> {
  const raws = entries.map((value) => ({ line: null, value, input: shown(value) }));
  return readAll('json', entries.length, raws);
}

async function readAll(format: ImportFormat, total: number, raws: readonly Raw[]): Promise<ReadRules> {
  const read: ReadRules = { format, total, rules: [], rejected: [] };
  for (const [index, raw] of raws.entries()) {
    if (index % SLICE === SLICE - 1) await setImmediate();
    const { line, input } = raw;
    try {
      const { body, ...rest } = readRuleObject(raw.value);
      const own = { ...rest, note: raw.note ?? rest.note, enabled: raw.enabled ?? rest.enabled };
      read.rules.push({ index, line, input, definition: readDefinition(body), ...own });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      read.rejected.push({ index, line, code: 'INVALID_RULE', message: error.message, input: cut(input) });
    }
  }
  return read;
}

/** A list of rules with a key. With lines that no YAML document can have, each line is read, so that errors name them. */
function isClash(lines: readonly string[]): boolean {
  return lines.some((line) => LIST_KEY.test(line)) && !lines.some((line) => NO_YAML.test(line));
}

/** Converts lines to entries: a comment either belongs to the rule below it or is skipped. */
function rawsOf(lines: readonly { line: number; input: string; quoted?: boolean }[]): Raw[] {
  const raws: Raw[] = [];
  let note: string | undefined;
  for (const { line, input, quoted } of lines) {
    const text = input.trim();
    if (quoted !== true) note = noteIn(text) ?? note;
    const disabled = quoted === true ? undefined : disabledIn(text);
    if (quoted !== true && disabled === undefined && (text === '' || COMMENT.test(text) || isListKey(text))) continue;
    const value = quoted === true ? input : ruleIn(disabled ?? text);
    raws.push({ line, input, value, enabled: disabled === undefined, ...(note !== undefined && { note }) });
    note = undefined;
  }
  return raws;
}

/** The key above a list, in a text that is read line by line. */
function isListKey(text: string): boolean {
  return text === 'rules:' || text === 'payload:';
}

function entriesOfJson(text: string): unknown[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (cause) {
    throw invalidText('is not valid JSON', cause);
  }
  const list = Array.isArray(parsed) ? parsed : (parsed as { rules?: unknown }).rules;
  if (!Array.isArray(list)) throw invalidText('contains no list "rules"');
  return list;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
