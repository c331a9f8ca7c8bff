/** Published rule sets: lists in text or YAML, mihomo's binary form, and the forms of sing-box and Surge. */
import type { RuleSetBehavior } from '../interfaces/config.js';
import { validateRuleSetEntry } from '../route/index.js';
import { parseMrs } from './mrs.js';
import { RuleSetFileError } from './rule-set-file-error.js';
import { classicalLines, domainSetLines } from './client-lists.js';
import { type Line, textLines, yamlLines } from './lines.js';
import { parseSingBox } from './sing-box.js';

export { RuleSetFileError } from './rule-set-file-error.js';

/** `sing-box` is its source form, in JSON, or its binary one; `domain-set` Surge's list of domains, in which a dot means all below and the domain itself. */
export type RuleSetFormat = 'yaml' | 'text' | 'mrs' | 'sing-box' | 'domain-set';

export interface ParseRuleSetOptions {
  format: RuleSetFormat;
  behavior: RuleSetBehavior;
  /** The most entries that are accepted; 1,000,000. */
  maxEntries?: number;
}

export interface RuleSetLineError {
  /** From 1; for `mrs` the position of the entry. */
  line: number;
  message: string;
  /** The input, at most 200 characters. */
  input: string;
}

export interface ParsedRuleSet {
  /** In the form of `RuleSetConfig.entries`, in the order of the file. */
  entries: string[];
  /** The first of the entries that could not be read. */
  errors: RuleSetLineError[];
  /** The number of entries that could not be read. */
  errorCount: number;
}

const MAX_FILE = 64 * 1024 * 1024;
const MAX_ENTRIES = 1_000_000;
const MAX_ERRORS = 100;
const MAX_INPUT = 200;

/**
 * Parses a rule set. A bad entry affects no other; time and memory are bounded by the size of the file.
 * @throws RuleSetFileError for a file of another format or behavior, or one that is too large.
 */
export function parseRuleSet(content: Buffer, options: ParseRuleSetOptions): ParsedRuleSet {
  const { format, behavior, maxEntries = MAX_ENTRIES } = options;
  if (content.length > MAX_FILE) throw new RuleSetFileError(`larger than ${MAX_FILE} bytes`);
  const result: ParsedRuleSet = { entries: [], errors: [], errorCount: 0 };
  for (const { number, text, problem } of linesOf(content, format, behavior)) {
    const message = problem ?? validateRuleSetEntry(behavior, text);
    if (message !== null) {
      result.errorCount++;
      if (result.errors.length < MAX_ERRORS) {
        result.errors.push({ line: number, message, input: text.slice(0, MAX_INPUT) });
      }
      continue;
    }
    if (result.entries.length >= maxEntries) throw new RuleSetFileError(`more than ${maxEntries} entries`);
    result.entries.push(text);
  }
  return result;
}

function linesOf(content: Buffer, format: RuleSetFormat, behavior: RuleSetBehavior): Iterable<Line> {
  if (format === 'mrs') return parseMrs(content, behavior);
  if (format === 'sing-box') return parseSingBox(content, behavior);
  if (format === 'domain-set') return domainSetLines(content, behavior);
  if (format === 'yaml') return yamlLines(content);
  return behavior === 'classical' ? classicalLines(content) : textLines(content);
}
