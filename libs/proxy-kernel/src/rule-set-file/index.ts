/** Rule sets as they are published: lists in text or YAML, and mihomo's binary form. */
import type { RuleSetBehavior } from '../interfaces/config.js';
import { validateRuleSetEntry } from '../route/index.js';
import { parseMrs } from './mrs.js';
import { RuleSetFileError } from './rule-set-file-error.js';
import { type Line, textLines, yamlLines } from './lines.js';

export { RuleSetFileError } from './rule-set-file-error.js';

export type RuleSetFormat = 'yaml' | 'text' | 'mrs';

export interface ParseRuleSetOptions {
  format: RuleSetFormat;
  behavior: RuleSetBehavior;
  /** Most entries that are taken; 1,000,000. */
  maxEntries?: number;
}

export interface RuleSetLineError {
  /** From 1; for `mrs` the entry's place in the file. */
  line: number;
  message: string;
  /** At most 200 characters of what was there. */
  input: string;
}

export interface ParsedRuleSet {
  /** Fit for `RuleSetConfig.entries`, in the order of the file. */
  entries: string[];
  /** The first of those that cannot be read. */
  errors: RuleSetLineError[];
  /** Number of all that cannot be read. */
  errorCount: number;
}

const MAX_FILE = 64 * 1024 * 1024;
const MAX_ENTRIES = 1_000_000;
const MAX_ERRORS = 100;
const MAX_INPUT = 200;

/**
 * Reads a rule set. One bad entry costs one entry; time and memory are bounded by the size of the file.
 * @throws RuleSetFileError for a file that is none of that format, holds another behavior, or is too large.
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
  return format === 'yaml' ? yamlLines(content) : textLines(content);
}
