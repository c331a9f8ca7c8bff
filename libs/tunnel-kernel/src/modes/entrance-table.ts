import type { TunnelConfig, TunnelMode } from '../config.js';
import type { Entrance, ServerMode } from './mode.js';

export type RunState = 'running' | 'waiting' | 'error';

/**
 * `running`: port bound (or none needed), agent connected. `waiting`: the same without an agent. `error`: the port could
 * not be bound.
 */
export interface TunnelState {
  id: number;
  clientId: number;
  state: RunState;
  /** The port that is bound; 0 when none is. */
  port: number;
  error: string | null;
}

interface Entry {
  tunnel: TunnelConfig;
  entrance: Entrance | null;
  error: string | null;
}

/** The public ports of all tunnels. */
export class EntranceTable {
  private readonly entries = new Map<number, Entry>();
  private readonly modes: Partial<Record<TunnelMode, ServerMode>>;
  private work: Promise<void> = Promise.resolve();

  constructor(modes: Partial<Record<TunnelMode, ServerMode>>) {
    this.modes = modes;
  }

  /** Binds what is new or failed before, gives up what is gone, first; ports that stay are not touched. */
  apply(tunnels: readonly TunnelConfig[]): Promise<void> {
    // One after the other: a port must be given up before it is taken by another tunnel.
    this.work = this.work.then(() => this.change(tunnels));
    return this.work;
  }

  states(online: (clientId: number) => boolean): TunnelState[] {
    return [...this.entries.values()].map(({ tunnel: { id, clientId }, entrance, error }) => {
      const state = error !== null ? 'error' : online(clientId) ? 'running' : 'waiting';
      return { id, clientId, state, port: entrance?.port ?? 0, error };
    });
  }

  private async change(tunnels: readonly TunnelConfig[]): Promise<void> {
    const wanted = new Map(tunnels.map((tunnel) => [tunnel.id, tunnel]));
    for (const [id, entry] of this.entries) {
      const next = wanted.get(id);
      if (next && sameAddress(entry, next) && entry.error === null) entry.tunnel = next;
      else this.remove(id, entry);
    }
    await Promise.all(tunnels.filter(({ id }) => !this.entries.has(id)).map((tunnel) => this.add(tunnel)));
  }

  private async add(tunnel: TunnelConfig): Promise<void> {
    const entry: Entry = { tunnel, entrance: null, error: null };
    this.entries.set(tunnel.id, entry);
    const fail = (error: Error): void => {
      entry.error = `${tunnel.listen.host}:${tunnel.listen.port} ${bindFailure(error)}`;
    };
    const mode = this.modes[tunnel.mode];
    if (!mode) entry.error = `mode ${tunnel.mode} is not served here`;
    else entry.entrance = mode.entrance(() => entry.tunnel, fail);
    await entry.entrance?.listen().catch(fail);
  }

  private remove(id: number, { entrance }: Entry): void {
    this.entries.delete(id);
    entrance?.close();
  }
}

function sameAddress({ tunnel }: Entry, next: TunnelConfig): boolean {
  const { host, port } = next.listen;
  return tunnel.mode === next.mode && tunnel.listen.host === host && tunnel.listen.port === port;
}

function bindFailure(error: NodeJS.ErrnoException): string {
  if (error.code === 'EADDRINUSE') return 'is in use';
  return error.code === 'EACCES' ? 'is not allowed' : `cannot be bound (${error.code ?? error.message})`;
}
