import { createHash } from 'node:crypto';
import { createZstdDecompress, zstdCompressSync, zstdDecompress } from 'node:zlib';
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

/** The first entries of stored data; what comes after them is not even unpacked. */
export async function firstEntries(data: Uint8Array, limit: number): Promise<string[]> {
  const unpacking = createZstdDecompress();
  unpacking.end(data);
  const parts: Buffer[] = [];
  let breaks = 0;
  // Leaving the loop ends the unpacking.
  for await (const part of unpacking as AsyncIterable<Buffer>) {
    parts.push(part);
    for (let at = part.indexOf(10); at !== -1; at = part.indexOf(10, at + 1)) breaks++;
    if (breaks >= limit) break;
  }
  const text = Buffer.concat(parts).toString('utf8');
  return text === '' ? [] : text.split('\n', limit);
}
