import { TunnelError } from '../errors.js';
import type { ServerSession } from './server-session.js';

/** Upper bound for agents that serve one client together. */
const MAX_AGENTS = 64;
const NONE: readonly ServerSession[] = [];

/**
 * The current sessions of each client. One agent serves a client, the newest, unless all of its agents are replicas,
 * which serve it together. An agent may have several connections, each in a slot of its own.
 */
export class SessionTable {
  /** The newest session is the last. */
  private readonly current = new Map<number, ServerSession[]>();
  private count = 0;

  /** Number of sessions. */
  get size(): number {
    return this.count;
  }

  /** The client's newest session. */
  of(clientId: number): ServerSession | undefined {
    return this.current.get(clientId)?.at(-1);
  }

  allOf(clientId: number): readonly ServerSession[] {
    return this.current.get(clientId) ?? NONE;
  }

  all(): ServerSession[] {
    return [...this.current.values()].flat();
  }

  /**
   * Adds `session`, and ends and returns the sessions that it replaces. @throws TunnelError `replaced` when a newer
   * connection was faster, `overloaded` when too many agents serve the client.
   */
  admit(session: ServerSession): ServerSession[] {
    const { id } = session.identity.client;
    const before = this.current.get(id) ?? [];
    const replaced = before.filter((other) => replaces(session, other));
    const kept = before.filter((other) => !replaced.includes(other));
    if (kept.length >= MAX_AGENTS)
      throw new TunnelError('overloaded', `${MAX_AGENTS} agents serve this client already`);
    this.current.set(id, [...kept, session]);
    this.count += 1 - replaced.length;
    for (const other of replaced) other.end(new TunnelError('replaced', 'another connection serves this client now'));
    return replaced;
  }

  /** True if it was a current session of its client. */
  remove(session: ServerSession): boolean {
    const { id } = session.identity.client;
    const before = this.current.get(id) ?? [];
    const kept = before.filter((other) => other !== session);
    if (kept.length === before.length) return false;
    this.count -= 1;
    if (kept.length > 0) this.current.set(id, kept);
    else this.current.delete(id);
    return true;
  }
}

/** @throws TunnelError `replaced` when `other` is the newer one. */
function replaces(session: ServerSession, other: ServerSession): boolean {
  const { agentId, slot, epoch, replica } = session.identity;
  const { identity } = other;
  const isSameRun = identity.agentId === agentId;
  if (isSameRun ? identity.slot !== slot : identity.replica && replica) return false;
  const isNewer = isSameRun ? epoch > identity.epoch : session.order > other.order;
  if (!isNewer) throw new TunnelError('replaced', 'a newer connection serves this client');
  return true;
}
