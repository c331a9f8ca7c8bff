import { networkOf } from '@gatehouse/net';
import { TunnelError } from '../errors.js';

/**
 * Upper bound for sessions of one source address to one client: enough for a busy resolver, or an office behind one
 * address.
 */
const MAX_OF_SOURCE = 2048;
/** Number of candidates for eviction: a choice among all sessions would cost more than it gains. */
const LOOKED_AT = 8;

/** What eviction needs to know about a session. */
export interface PlacedSession {
  readonly clientId: number;
  /** Source address of the visitor. */
  readonly address: string;
  /** Milliseconds of the server's clock. */
  readonly usedAt: number;
  /** The target has answered; before that the source address may be forged. */
  readonly answered: boolean;
  evict(): void;
}

interface Share<S> {
  size: number;
  /** Sessions without an answer, the oldest first. */
  unanswered: Set<S>;
}

/**
 * Divides the slots for datagram sessions among clients. A client may use all that are free, but half of them are taken
 * back for others who need them: with n busy clients each keeps a share of n + 1. Source addresses of datagrams can be
 * forged, so a full client first loses its own oldest session without an answer.
 */
export class SessionShares<S extends PlacedSession> {
  private readonly most: number;
  private readonly mostOfSource: number;
  private readonly clients = new Map<number, Share<S>>();
  /** Keyed by client and source. */
  private readonly sources = new Map<string, Set<S>>();
  private total = 0;
  /** Sessions evicted since the start. */
  evicted = 0;

  constructor(most: number, mostOfSource = MAX_OF_SOURCE) {
    this.most = most;
    this.mostOfSource = mostOfSource;
  }

  /** Frees a slot for a session. @throws TunnelError `overloaded` */
  makeRoom(clientId: number, address: string): void {
    const source = this.sources.get(sourceKey(clientId, address));
    if (source && source.size >= this.mostOfSource) this.evict(firstToGo(source));
    const own = this.clients.get(clientId);
    const hasRoom = (own?.size ?? 0) < this.most - this.total;
    if (!hasRoom) this.evict(own && first(own.unanswered));
  }

  add(session: S): void {
    const { clientId } = session;
    const share = this.clients.get(clientId) ?? { size: 0, unanswered: new Set<S>() };
    this.clients.set(clientId, share);
    share.size += 1;
    this.total += 1;
    if (!session.answered) share.unanswered.add(session);
    const key = sourceKey(clientId, session.address);
    const source = this.sources.get(key);
    if (source) source.add(session);
    else this.sources.set(key, new Set([session]));
  }

  answered(session: S): void {
    this.clients.get(session.clientId)?.unanswered.delete(session);
  }

  delete(session: S): void {
    const key = sourceKey(session.clientId, session.address);
    const source = this.sources.get(key);
    const share = this.clients.get(session.clientId);
    if (!source?.delete(session) || !share) return;
    if (source.size === 0) this.sources.delete(key);
    this.total -= 1;
    share.size -= 1;
    share.unanswered.delete(session);
    if (share.size === 0) this.clients.delete(session.clientId);
  }

  private evict(session: S | undefined): void {
    if (!session) throw new TunnelError('overloaded', 'too many sessions of datagrams');
    this.evicted += 1;
    session.evict();
  }
}

function sourceKey(clientId: number, address: string): string {
  return `${clientId} ${networkOf(address)}`;
}

function first<S>(sessions: ReadonlySet<S>): S | undefined {
  for (const session of sessions) return session;
  return undefined;
}

function firstToGo<S extends PlacedSession>(sessions: ReadonlySet<S>): S | undefined {
  let chosen: S | undefined;
  let looked = 0;
  for (const session of sessions) {
    if (!session.answered) return session;
    if (!chosen || session.usedAt < chosen.usedAt) chosen = session;
    if ((looked += 1) === LOOKED_AT) break;
  }
  return chosen;
}
