import { createHash } from 'node:crypto';
import { createZstdDecompress, zstdCompressSync, zstdDecompress } from 'node:zlib';
import { promisify } from 'node:util';
import type { RuleSetBehavior, RuleSetEntryError, RuleSetFormat } from '@gatehouse/contracts';
import { parseRuleSet, RuleSetFileError } from '@gatehouse/proxy-kernel';

export interface RuleSetForm {
  format: RuleSetFormat;
  behavior: RuleSetBehavior;
}

/** A rule set in the form that is stored. */
export interface ReadRuleSet {
  /** The entries, one per line, compressed. */
  data: Uint8Array;
  /** Hash of the uncompressed lines. */
  sha256: string;
  count: number;
  skipped: number;
  /** The first of the entries that were skipped. */
  errors: RuleSetEntryError[];
}

/** Half a million domains take about 12 MB. */
const MAX_LINES_BYTES = 128 * 1024 * 1024;

/** @throws RuleSetFileError for a file that is not of that form or is too large. */
export function readRuleSet(content: Buffer, form: RuleSetForm, maxLinesBytes = MAX_LINES_BYTES): ReadRuleSet {
  const { entries, errors, errorCount } = parseRuleSet(content, form);
  const lines = Buffer.from(entries.join('\n'));
  // A set that cannot be opened again would block every later change of the kernel's configuration.
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

/** Opens the entries of stored data. */
export async function openEntries(data: Uint8Array): Promise<string[]> {
  const lines = await decompress(data, { maxOutputLength: MAX_LINES_BYTES });
  return lines.length === 0 ? [] : lines.toString('utf8').split('\n');
}

/** The first entries of stored data; the rest is not even decompressed. */
export async function firstEntries(data: Uint8Array, limit: number): Promise<string[]> {
  const unpacking = createZstdDecompress();
  unpacking.end(data);
  const parts: Buffer[] = [];
  let breaks = 0;
  // Leaving the loop ends the decompression.
  for await (const part of unpacking as AsyncIterable<Buffer>) {
    parts.push(part);
    for (let at = part.indexOf(10); at !== -1; at = part.indexOf(10, at + 1)) breaks++;
    if (breaks >= limit) break;
  }
  const text = Buffer.concat(parts).toString('utf8');
  return text === '' ? [] : text.split('\n', limit);
}
