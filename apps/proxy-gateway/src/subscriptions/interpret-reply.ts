import { createHash } from 'node:crypto';
import type { RefreshReason, SkippedEntry, SubscriptionProfile, SubscriptionTraffic } from '@gatehouse/contracts';
import type { ParsedSubscription } from '@gatehouse/subscription-formats';
import type { ParsedReply } from './plan-refresh.js';
import type { FetchReply } from '../documents/subscription-fetcher.js';
import { readProfile, readTraffic } from './subscription-headers.js';

/** A body with everything read from it. */
export interface ReadReply {
  reply: ParsedReply;
  detectedType: string;
  contentSha256: string;
  contentBytes: number;
  parsed: number;
  duplicates: number;
  ignored: number;
  skipped: number;
  skippedEntries: SkippedEntry[];
  /** Null if the reply does not contain it. */
  traffic: SubscriptionTraffic | null;
  profile: SubscriptionProfile | null;
  document: ParsedSubscription;
  /** Names of nodes that an earlier entry already has, under another name: the profile may use either. */
  aliases: ReadonlyMap<string, string>;
}

const SHOWN_SKIPPED = 100;

/** Interprets a fetched and parsed body; an unusable one gets a reason. */
export function interpretReply(
  fetched: Extract<FetchReply, { kind: 'content' }>,
  document: ParsedSubscription,
): ReadReply {
  const notices = document.infoNodes.map(({ name }) => name);
  return {
    reply: toReply(document),
    detectedType: document.format,
    contentSha256: sha256(fetched.content),
    contentBytes: fetched.content.length,
    parsed: document.nodes.length,
    duplicates: document.duplicates.length,
    ignored: document.infoNodes.length + document.ignored,
    skipped: document.skipped.length,
    skippedEntries: document.skipped
      .slice(0, SHOWN_SKIPPED)
      .map(({ line, name, reason, message }) => ({ line, name, reason, message })),
    traffic: readTraffic(fetched.headers, document.info),
    profile: readProfile(fetched.headers, notices),
    document,
    aliases: aliasesOf(document),
  };
}

export function sha256(content: Buffer): string {
  return createHash('sha256').update(content).digest('hex');
}

function toReply(document: ParsedSubscription): ParsedReply {
  if (document.error) {
    return { kind: 'unusable', reason: reasonOf(document.error.code), message: `${sentence(document.error.message)}` };
  }
  if (document.nodes.length === 0 && document.skipped.length > 0) {
    const message = `None of the ${document.skipped.length} entries of the reply can be read.`;
    return { kind: 'unusable', reason: 'empty_result', message };
  }
  return { kind: 'nodes', entries: document.nodes, hasProviders: (document.profile?.proxyProviders.length ?? 0) > 0 };
}

function aliasesOf({ nodes, duplicates }: ParsedSubscription): ReadonlyMap<string, string> {
  if (duplicates.length === 0) return new Map();
  const names = new Map(nodes.map(({ line, node }) => [line, node.name]));
  return new Map(duplicates.map(({ name, of }) => [name, names.get(of) ?? name]));
}

function reasonOf(code: string): RefreshReason {
  switch (code) {
    case 'html_response':
      return 'html_response';
    case 'empty_document':
    case 'no_entries':
      return 'empty_result';
    case 'too_large':
    case 'too_many_entries':
      return 'too_large';
    default:
      return 'parse_error';
  }
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
