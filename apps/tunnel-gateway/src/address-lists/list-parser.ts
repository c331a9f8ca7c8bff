import { setImmediate } from 'node:timers/promises';
import { AddressSet, IpPatternError, parseAddressRange, type AddressRange } from '@gatehouse/tunnel-kernel';
import type { BadLine } from '../data/address-list.entity.js';

export const MAX_ENTRIES = 200_000;
const BAD_LINES_KEPT = 5;
const MAX_BAD_TEXT = 80;
/** Number of lines after which the event loop gets a turn. */
const TURN = 2_000;

export interface ParsedList {
  set: AddressSet;
  /** Number of lines with an address, a network or a range. */
  entries: number;
  badLineCount: number;
  /** The first ones. */
  badLines: BadLine[];
}

/**
 * Reads a list: an address, a network or a range (`a-b`) to a line, and comments after `#` or `;`. Null: it has more than
 * `maxEntries`.
 */
export async function parseList(text: string, maxEntries = MAX_ENTRIES): Promise<ParsedList | null> {
  const ranges: AddressRange[] = [];
  const badLines: BadLine[] = [];
  let badLineCount = 0;
  let line = 0;
  for (const written of linesOf(text)) {
    if (++line % TURN === 0) await setImmediate();
    const entry = withoutComment(written);
    if (entry === '') continue;
    const range = rangeOf(entry);
    if (range !== null) {
      if (ranges.push(range) > maxEntries) return null;
      continue;
    }
    badLineCount += 1;
    if (badLines.length < BAD_LINES_KEPT) badLines.push({ line, text: shown(entry) });
  }
  return { set: AddressSet.of(ranges), entries: ranges.length, badLineCount, badLines };
}

/** One by one, because a body may have millions. */
function* linesOf(text: string): Generator<string> {
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  while (at < text.length) {
    const found = text.indexOf('\n', at);
    const end = found < 0 ? text.length : found;
    yield text.slice(at, end);
    at = end + 1;
  }
}

function withoutComment(line: string): string {
  const comment = line.search(/[#;]/);
  return (comment < 0 ? line : line.slice(0, comment)).trim();
}

function rangeOf(entry: string): AddressRange | null {
  // Two addresses at most, so that a long line costs nothing.
  if (entry.length > 2 * MAX_BAD_TEXT) return null;
  try {
    return parseAddressRange(entry);
  } catch (error) {
    if (error instanceof IpPatternError) return null;
    throw error;
  }
}

/** PostgreSQL accepts no NUL, and pages no controls. */
function shown(entry: string): string {
  return entry.slice(0, MAX_BAD_TEXT).toWellFormed().replaceAll(/\p{C}/gu, '\uFFFD');
}
