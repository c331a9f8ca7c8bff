import type { ProxyNode } from '@gatehouse/contracts';
import type { FormatErrorCode } from './errors.js';
import type { Profile } from './profile/profile.js';

export type SubscriptionFormat =
  | 'clash'
  | 'sing-box'
  | 'sip008'
  | 'ssd'
  | 'surge'
  | 'quantumult-x'
  | 'base64'
  | 'links'
  | 'hosts'
  | 'html'
  | 'empty'
  | 'unknown';

/** One node that was read. */
export interface ParsedEntry {
  /** Line of the (decoded) document, from 1; for JSON documents the position in the list, from 1. */
  line: number;
  node: ProxyNode;
  /** The entry as it can be stored and read again by `parseRawConfig`: the link, or one JSON object. */
  raw: string;
  fingerprint: string;
}

/** One entry that was not read, and why. */
export interface SkippedEntry {
  line: number;
  /** Label of the entry, if it could be read. */
  name: string | null;
  reason: FormatErrorCode;
  message: string;
  /** The entry without credentials, at most 200 characters. */
  input: string;
}

/** A node that equals an earlier one in the document. */
export interface DuplicateEntry {
  line: number;
  name: string;
  /** Line of the entry that was kept. */
  of: number;
}

/** What informational nodes say about the subscription. Bytes; null if unknown. */
export interface SubscriptionInfo {
  remainingBytes: number | null;
  totalBytes: number | null;
  expireAt: Date | null;
}

/** Every entry of the document is in exactly one of `nodes`, `skipped`, `infoNodes`, `duplicates` and `ignored`. */
export interface ParsedSubscription {
  format: SubscriptionFormat;
  /** Distinct by fingerprint, in the order of the document. */
  nodes: ParsedEntry[];
  skipped: SkippedEntry[];
  infoNodes: { line: number; name: string }[];
  info: SubscriptionInfo;
  duplicates: DuplicateEntry[];
  /** Number of entries that are not meant to be servers: selectors, DIRECT, DNS outbounds. */
  ignored: number;
  /** Groups, providers, rules and the rest of a profile; null if they were not requested. */
  profile: Profile | null;
  /** Why the document as a whole could not be read; absent if its entries were. */
  error?: { code: FormatErrorCode; message: string };
}
