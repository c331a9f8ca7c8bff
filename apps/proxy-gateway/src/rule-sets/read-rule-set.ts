import { createHash } from 'node:crypto';
import { zstdCompressSync, zstdDecompress } from 'node:zlib';
import { promisify } from 'node:util';
import type { RuleSetBehavior, RuleSetEntryError, RuleSetFormat } from '@gatehouse/contracts';
import { parseRuleSet, RuleSetFileError } from '@gatehouse/proxy-kernel';

export interface RuleSetForm {
  format: RuleSetFormat;
  behavior: RuleSetBehavior;
}

/** A rule set as it was read, ready to be stored. */
export interface ReadRuleSet {
  /** The entries, one a line, compressed. */
  data: Uint8Array;
  /** Of the lines before that. */
  sha256: string;
  count: number;
  skipped: number;
  /** The first of what was skipped. */
  errors: RuleSetEntryError[];
}

/** Half a million domains take some 12 MB. */
const MAX_LINES_BYTES = 128 * 1024 * 1024;

/** @throws RuleSetFileError for a file that is none of that form, or holds too much. */
export function readRuleSet(content: Buffer, form: RuleSetForm, maxLinesBytes = MAX_LINES_BYTES): ReadRuleSet {
  const { entries, errors, errorCount } = parseRuleSet(content, form);
  const lines = Buffer.from(entries.join('\n'));
  // What could not be opened again would keep every other change out of the kernel.
  if (lines.length > maxLinesBytes) throw new RuleSetFileError(`holds more than ${maxLinesBytes} bytes of entries`);
  return {
    data: zstdCompressSync(lines),
    sha256: createHash('sha256').update(lines).digest('hex'),
    count: entries.length,
    skipped: errorCount,
    errors: errors.map(({ line, message, input }) => ({ line, message, input: input.replaceAll('\0', '') })),
  };
}

const decompress = promisify(zstdDecompress);

/** The entries of stored data. */
export async function openEntries(data: Uint8Array): Promise<string[]> {
  const lines = await decompress(data, { maxOutputLength: MAX_LINES_BYTES });
  return lines.length === 0 ? [] : lines.toString('utf8').split('\n');
}
