import { parseIp } from '@gatehouse/net';
import { isHostName } from './caching-resolver.js';
import type { FakeIpPool } from './fake-ip.js';
import { CLASS_IN, TYPE } from './message-reader.js';
import { CODE, type DnsAnswer, type DnsQuery, encodeAnswer, relabelReply } from './query-message.js';
import type { NameService } from './resolver.js';

/** What answers are made from; it may change between questions. */
export interface DnsSource {
  names: NameService;
  /** Null: every name has its real addresses. */
  fakeIps: FakeIpPool | null;
}

/**
 * Clients ask again for each connection, because an address that stands for a name must not outlive the kernel for
 * long.
 */
const FAKE_TTL_SEC = 1;
/** Types that are not answered for others: zone transfers, and ANY (RFC 8482). */
const NOT_GIVEN = new Set([251, 252, TYPE.ANY]);
/** Records that may contain addresses, by which a client would bypass the one that stands for the name. */
const SERVICE_TYPES = new Set<number>([TYPE.SVCB, TYPE.HTTPS]);

/** The reply to a question. @throws Error if no source can answer. */
export async function replyTo(query: DnsQuery, source: DnsSource, limit: number): Promise<Buffer> {
  const known = answerAtHand(query, source) ?? (await lookUp(query, source));
  if (known) return encodeAnswer(query, known, limit);
  const { name, type, options, flags } = query;
  const unchecked = (flags & 0x10) !== 0;
  const asked = { name, type, options: options && { dnssec: options.dnssec }, unchecked };
  return relabelReply(query, await source.names.forward(asked), limit);
}

/** An answer that is known without asking a server; null if one has to be asked. */
export function answerAtHand(query: DnsQuery, { names, fakeIps }: DnsSource): DnsAnswer | null {
  const { name, type } = query;
  if (query.options && query.options.version > 0) return { code: CODE.badVersion };
  if (query.class !== CLASS_IN) return { code: CODE.refused };
  if (NOT_GIVEN.has(type)) return { code: CODE.notImplemented };
  const isAddress = type === TYPE.A || type === TYPE.AAAA;
  if (!isAddress && !SERVICE_TYPES.has(type)) return null;
  const fixed = names.resolver.fixed(name);
  if (fixed) return isAddress ? null : { code: CODE.ok };
  if (!isHostName(name)) return isAddress ? { code: CODE.ok } : null;
  const fake = fakeIps?.addressFor(name) ?? null;
  if (fake === null) return null;
  return type === TYPE.A ? addressAnswer(type, [fake], FAKE_TTL_SEC) : { code: CODE.ok };
}

/** The addresses of a name; null for questions of other types. */
async function lookUp({ name, type }: DnsQuery, { names }: DnsSource): Promise<DnsAnswer | null> {
  if (type !== TYPE.A && type !== TYPE.AAAA) return null;
  const { addresses, missing, ttlMs } = await names.resolver.lookup(name);
  if (missing) return { code: CODE.noSuchName };
  // Rounded up, so that an answer with less than a second can still be used once.
  return addressAnswer(type, addresses, Math.ceil(ttlMs / 1000));
}

/** An answer with the addresses that are of the type. */
function addressAnswer(type: number, addresses: readonly string[], ttl: number): DnsAnswer {
  const words = type === TYPE.A ? 1 : 4;
  const fitting = addresses.map((address) => parseIp(address)?.words ?? []).filter(({ length }) => length === words);
  return { code: CODE.ok, type, ttl, addresses: fitting.map(addressBytes) };
}

function addressBytes(words: readonly number[]): Buffer {
  const bytes = Buffer.alloc(words.length * 4);
  for (const [i, word] of words.entries()) bytes.writeUInt32BE(word >>> 0, i * 4);
  return bytes;
}
