import type { LoadBalanceStrategy } from '../interfaces/config.js';
import type { ConnectionMetadata } from '../interfaces/connection.js';
import type { GroupChoice, GroupRule, GroupView } from './group-rule.js';
import { Rendezvous } from './rendezvous.js';
import { getDomain } from 'tldts';

/**
 * Spreads flows over the living members. If none is alive it uses all, since a wrong measurement must not stop all
 * traffic.
 */
export class LoadBalanceRule implements GroupRule {
  readonly pick: NonNullable<GroupRule['pick']>;

  constructor(strategy: LoadBalanceStrategy, now: () => number) {
    this.pick = STRATEGIES[strategy](now);
  }

  /** The member shown for the group where there is no flow. */
  choose({ members, health }: GroupView): GroupChoice {
    return { member: members.find((tag) => health(tag).alive) ?? members[0] ?? null, reason: 'dead' };
  }
}

type Pick = NonNullable<GroupRule['pick']>;

const STRATEGIES: Record<LoadBalanceStrategy, (now: () => number) => Pick> = {
  'round-robin': roundRobin,
  'consistent-hashing': consistentHashing,
  'sticky-sessions': stickySessions,
};

function roundRobin(): Pick {
  let turn = 0;
  return (_flow, members, take) => {
    const member = members[turn % members.length] ?? '';
    if (take) turn = (turn + 1) % members.length;
    return member;
  };
}

function consistentHashing(): Pick {
  const ring = new Rendezvous();
  return (flow, members) => ring.pick(siteOf(flow), members);
}

/** A new session gets the member that hashing gives, so that a preview shows the member that is used. */
function stickySessions(now: () => number): Pick {
  const ring = new Rendezvous();
  const sessions = new StickySessions(now);
  return (flow: ConnectionMetadata, members, take) => {
    const key = `${flow.sourceIp} ${siteOf(flow)}`;
    const kept = sessions.find(key);
    const member = kept !== null && members.includes(kept) ? kept : ring.pick(key, members);
    if (take) sessions.keep(key, member);
    return member;
  };
}

/**
 * The key of all flows to one site: the registrable domain (public suffix list), otherwise the name, otherwise the
 * address.
 */
export function siteOf({ host, destinationIp }: ConnectionMetadata): string {
  if (host === null) return destinationIp ?? '';
  // `a.github.io` and `b.github.io` belong to different people.
  return getDomain(host, { allowPrivateDomains: true }) ?? host.toLowerCase();
}

interface Session {
  member: string;
  usedAt: number;
}

/** The most sessions kept; the least recently used one is dropped. */
const MAX_SESSIONS = 4096;
/** A session may move after this time without a new flow. */
export const SESSION_MS = 10 * 60_000;

/** The member of each session, in order of last use. */
export class StickySessions {
  readonly #sessions = new Map<string, Session>();
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Null for a session that is new or has expired. */
  find(key: string): string | null {
    const session = this.#sessions.get(key);
    return session && this.#now() - session.usedAt < SESSION_MS ? session.member : null;
  }

  keep(key: string, member: string): void {
    this.#sessions.delete(key);
    this.#sessions.set(key, { member, usedAt: this.#now() });
    const [oldest] = this.#sessions.keys();
    if (oldest !== undefined && this.#sessions.size > MAX_SESSIONS) this.#sessions.delete(oldest);
  }
}
