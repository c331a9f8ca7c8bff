import { TunnelError } from '../errors.js';
import type { ServerSession } from './server-session.js';

/** Which session serves which client: one each, the newest. */
export class SessionTable {
  private readonly current = new Map<number, ServerSession>();

  get size(): number {
    return this.current.size;
  }

  of(clientId: number): ServerSession | undefined {
    return this.current.get(clientId);
  }

  all(): ServerSession[] {
    return [...this.current.values()];
  }

  /**
   * Makes `session` its client's, and ends the one before at once, which it answers. @throws TunnelError `replaced` when a newer
   * connection was quicker.
   */
  admit(session: ServerSession): ServerSession | null {
    const { client, agentId, epoch } = session.identity;
    const before = this.current.get(client.id);
    if (before) {
      const same = before.identity.agentId === agentId;
      const newer = same ? epoch > before.identity.epoch : session.order > before.order;
      if (!newer) throw new TunnelError('replaced', 'a newer connection serves this client');
    }
    this.current.set(client.id, session);
    before?.end(new TunnelError('replaced', 'another connection serves this client now'));
    return before ?? null;
  }

  /** True if it was its client's session. */
  remove(session: ServerSession): boolean {
    const { id } = session.identity.client;
    if (this.current.get(id) !== session) return false;
    return this.current.delete(id);
  }
}
