import type { ProxyNode } from '@gatehouse/contracts';
import { FormatError } from './errors.js';
import { cleanLabel } from './fields.js';
import { fingerprintNode } from './fingerprint.js';
import { readInfoName } from './info-nodes.js';
import type { ParsedSubscription, SubscriptionFormat } from './parsed.js';
import { redact } from './text/redact.js';

const POLICY = /^(?:direct|pass|reject(?:-[a-z-]{2,12})?)$/i;

/** Collects the entries of a document. @throws FormatError `too_many_entries` when the limit is exceeded. */
export class EntrySink {
  readonly result: ParsedSubscription;
  /** Entries that stand for a built-in policy, by name. */
  readonly builtIns = new Map<string, string>();
  private readonly maxEntries: number;
  private readonly lines: Map<string, number> = new Map();
  private count = 0;

  constructor(maxEntries: number) {
    this.maxEntries = maxEntries;
    this.result = emptyResult('unknown');
  }

  /** Reads one entry. A `FormatError` skips this entry only. */
  add(entry: EntrySource): void {
    this.countEntry();
    let node: ProxyNode;
    try {
      node = entry.read();
    } catch (error) {
      this.skip(entry, error);
      return;
    }
    this.accept(entry, node);
  }

  /** @param policy what it stands for, and the name by which the document calls it. */
  ignore(policy?: { name: unknown; type: string }): void {
    this.countEntry();
    const name = typeof policy?.name === 'string' ? cleanLabel(policy.name) : undefined;
    if (policy && name !== undefined && POLICY.test(policy.type)) this.builtIns.set(name, policy.type.toUpperCase());
    this.result.ignored += 1;
  }

  private accept(entry: EntrySource, node: ProxyNode): void {
    const { nodes, duplicates, infoNodes, info } = this.result;
    if (readInfoName(node, info)) {
      infoNodes.push({ line: entry.line, name: node.name });
      return;
    }
    const fingerprint = fingerprintNode(node);
    const of = this.lines.get(fingerprint);
    if (of !== undefined) {
      duplicates.push({ line: entry.line, name: node.name, of });
      return;
    }
    this.lines.set(fingerprint, entry.line);
    nodes.push({ line: entry.line, node, raw: entry.raw(), fingerprint });
  }

  private skip(entry: EntrySource, error: unknown): void {
    if (!(error instanceof FormatError)) throw error;
    this.result.skipped.push({
      line: entry.line,
      name: cleanLabel(entry.label()) ?? null,
      reason: error.code,
      message: error.message,
      input: redact(entry.shown()),
    });
  }

  private countEntry(): void {
    this.count += 1;
    if (this.count > this.maxEntries) {
      throw new FormatError('too_many_entries', `the document has more than ${this.maxEntries} entries`);
    }
  }
}

/** One entry of a document. */
export interface EntrySource {
  line: number;
  /** @throws FormatError */
  read(): ProxyNode;
  /** The text to store. */
  raw(): string;
  /** Label to report when the entry cannot be read. */
  label(): string | undefined;
  /** The input for `redact`. */
  shown(): unknown;
}

export function emptyResult(format: SubscriptionFormat): ParsedSubscription {
  return {
    format,
    nodes: [],
    skipped: [],
    infoNodes: [],
    info: { remainingBytes: null, totalBytes: null, expireAt: null },
    duplicates: [],
    ignored: 0,
    profile: null,
  };
}
