import type { ProxyNode } from '@gatehouse/contracts';
import type { EntrySink } from '../entry-sink.js';
import { FormatError } from '../errors.js';
import { linkScheme } from '../links/link-url.js';
import { MAX_LINK_LENGTH, parseLink } from '../links/registry.js';
import { decodeBase64Text } from '../text/base64.js';
import { decodePercent } from '../text/percent.js';
import { contentLines } from '../text/lines.js';
import { addObject } from './object-entry.js';
import { fromClashEntry } from '../clash/from-entry.js';
import { looksLikeQuantumultXLine, parseQuantumultXLine } from '../client-lines/quantumult-x-line.js';
import { looksLikeSurgeLine, parseSurgeLine } from '../client-lines/surge-line.js';
import { looksLikeHostLine, parseHostLine } from './host-line.js';

const BASE64_LINE = /^[A-Za-z0-9+/_-]{16,}={0,2}$/;

/** Reads a list with one link or one `host:port[:user:pass]` a line. */
export function readLines(text: string, sink: EntrySink): void {
  for (const { line, entry } of contentLines(text)) {
    addLine(entry, line, sink);
  }
}

function addLine(entry: string, line: number, sink: EntrySink): void {
  if (entry.startsWith('{') && addJsonLine(entry, line, sink)) return;
  const link = unwrap(entry);
  sink.add({
    line,
    read: () => readEntry(link),
    raw: () => link,
    label: () => linkLabel(link),
    shown: () => link,
  });
}

/** Adds a node whose type has no link, as `formatNodeLine` writes it. False: the line is not JSON. */
function addJsonLine(entry: string, line: number, sink: EntrySink): boolean {
  if (entry.length > MAX_LINK_LENGTH) return false;
  try {
    addObject(sink, line, JSON.parse(entry), fromClashEntry);
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}

/** Decodes a line, because some lists encode each line separately. */
function unwrap(entry: string): string {
  if (entry.includes(':') || !BASE64_LINE.test(entry)) return entry;
  const decoded = decodeBase64Text(entry)?.trim();
  return decoded !== undefined && linkScheme(decoded) !== undefined && !decoded.includes('\n') ? decoded : entry;
}

function readEntry(entry: string): ProxyNode {
  if (entry.length > MAX_LINK_LENGTH) throw new FormatError('entry_too_large', 'the line is longer than 64 KiB');
  if (linkScheme(entry) !== undefined) return parseLink(entry);
  if (looksLikeHostLine(entry)) return parseHostLine(entry);
  if (looksLikeSurgeLine(entry)) return parseSurgeLine(entry);
  if (looksLikeQuantumultXLine(entry)) return parseQuantumultXLine(entry);
  throw new FormatError('unrecognised_line', 'the line is neither a share link nor host:port[:user:password]');
}

function linkLabel(entry: string): string | undefined {
  const hash = entry.indexOf('#');
  return hash === -1 || hash > MAX_LINK_LENGTH ? undefined : decodePercent(entry.slice(hash + 1, hash + 1025));
}
