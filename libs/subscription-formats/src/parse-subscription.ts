import { detect } from './detect.js';
import type { Detected } from './detect.js';
import { readClashYaml } from './documents/clash.js';
import { readJson } from './documents/json.js';
import { readLines } from './documents/lines.js';
import { readQuantumultX } from './documents/quantumult-x.js';
import { readSurge } from './documents/surge.js';
import { readSsd } from './documents/ssd.js';
import { emptyResult, EntrySink } from './entry-sink.js';
import { FormatError } from './errors.js';
import type { ParsedSubscription, SubscriptionFormat } from './parsed.js';
import { parseProfile } from './profile/read-profile.js';
import { decodeText } from './text/decode-text.js';

export interface ParseOptions {
  /** `clash` and `links` force the reader; `auto` (default) looks at the content. */
  type?: 'auto' | 'clash' | 'links';
  /** A document with more entries is refused as a whole. Default 50 000. */
  maxEntries?: number;
  /** Also read what the document has besides nodes: groups, rules and the rest of a profile. Default false. */
  profile?: boolean;
}

const DEFAULT_MAX_ENTRIES = 50_000;
/** In UTF-16 units or bytes. Callers that fetch have lower limits. */
export const MAX_DOCUMENT_LENGTH = 64 * 1024 * 1024;

/**
 * Reads a subscription of any known format. Never throws for any text: an unreadable entry is in `skipped`, and an
 * unreadable document has `error` and no nodes.
 */
export function parseSubscription(input: string | Uint8Array, options: ParseOptions = {}): ParsedSubscription {
  const sink = new EntrySink(options.maxEntries ?? DEFAULT_MAX_ENTRIES);
  try {
    if (input.length > MAX_DOCUMENT_LENGTH) throw new FormatError('too_large', 'the document is larger than 64 MiB');
    const found = force(detect(decodeText(input)), options.type ?? 'auto');
    readDocument(found, sink);
    if (options.profile === true) {
      sink.result.profile = { ...parseProfile(found.text, sink.result.format), builtIns: sink.builtIns };
    }
  } catch (error) {
    if (!(error instanceof FormatError)) throw error;
    return { ...emptyResult(sink.result.format), error: { code: error.code, message: error.message } };
  }
  const { result } = sink;
  if (isBarren(result)) result.error = { code: 'no_entries', message: 'the document lists no servers' };
  return result;
}

/** Kinds that `links` does not override. */
const LINE_KINDS: readonly Detected['kind'][] = ['ssd', 'surge', 'quantumult-x'];

/** A forced type overrides the detected one, except for a document without anything to read. */
function force(found: Detected, type: NonNullable<ParseOptions['type']>): Detected {
  if (type === 'auto' || found.kind === 'empty' || found.kind === 'html') return found;
  if (type === 'links') return { ...found, kind: LINE_KINDS.includes(found.kind) ? found.kind : 'lines' };
  return { ...found, kind: found.kind === 'json' ? 'json' : 'yaml' };
}

function readDocument(found: Detected, sink: EntrySink): void {
  const { result } = sink;
  switch (found.kind) {
    case 'empty':
      result.format = 'empty';
      throw new FormatError('empty_document', 'the document is empty');
    case 'html':
      result.format = 'html';
      throw new FormatError('html_response', 'the document is a web page');
    case 'json':
      readJson(found.text, sink);
      return;
    case 'yaml':
      readClashYaml(found.text, sink);
      return;
    case 'ssd':
      readSsd(found.text, sink);
      return;
    case 'surge':
      readSurge(found.text, sink);
      return;
    case 'quantumult-x':
      readQuantumultX(found.text, sink);
      return;
    case 'unknown':
      throw new FormatError('unknown_format', 'the document has no format known here');
    case 'lines':
      readLines(found.text, sink);
      result.format = linesFormat(found, result);
  }
}

function linesFormat(found: Detected, result: ParsedSubscription): SubscriptionFormat {
  if (found.encoded) return 'base64';
  return result.nodes.some((entry) => !entry.raw.includes('://')) && !found.text.includes('://') ? 'hosts' : 'links';
}

/** Whether there is nothing in it that is a server, or leads to servers. */
function isBarren(result: ParsedSubscription): boolean {
  if ((result.profile?.proxyProviders.length ?? 0) > 0) return false;
  return [result.nodes, result.skipped, result.infoNodes, result.duplicates].every((list) => list.length === 0);
}
