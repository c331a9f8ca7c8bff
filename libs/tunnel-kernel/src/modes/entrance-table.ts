import { setFlowTimeout } from '@gatehouse/net';
import type { TunnelConfig, TunnelMode } from '../config.js';
import { Backoff } from '../base/backoff.js';
import type { Entrance, ServerMode } from './mode.js';

export type RunState = 'running' | 'waiting' | 'error';

/**
 * `running`: the port is bound (or none is needed) and an agent is connected. `waiting`: the same without an agent.
 * `error`: the port could not be bound; the server tries again, after half a second at first and half a minute at most.
 */
export interface TunnelState {
  id: number;
  clientId: number;
  state: RunState;
  /** The bound port; 0 for none. */
  port: number;
  error: string | null;
}

interface Entry {
  tunnel: TunnelConfig;
  entrance: Entrance | null;
  error: string | null;
  backoff: Backoff;
  /** Timer of the next attempt. */
  timer: NodeJS.Timeout | null;
}

/** The public ports of all tunnels. */
export class EntranceTable {
  private readonly entries = new Map<number, Entry>();
  private readonly modes: Partial<Record<TunnelMode, ServerMode>>;
  private readonly random: () => number;
  private work: Promise<void> = Promise.resolve();

  /** `random`: from 0 to below 1. */
  constructor(modes: Partial<Record<TunnelMode, ServerMode>>, random = Math.random) {
    this.modes = modes;
    this.random = random;
  }

  /**
   * Releases the ports of removed tunnels, then binds new ones; unchanged ports are not touched. A port that failed
   * before still waits for its next attempt, unless a port was released here.
   */
  apply(tunnels: readonly TunnelConfig[]): Promise<void> {
    // One configuration after the other: a port must be released before another tunnel takes it.
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
    const freed = new Set<number>();
    for (const [id, entry] of this.entries) {
      const next = wanted.get(id);
      if (next && sameAddress(entry, next)) entry.tunnel = next;
      else {
        if (entry.entrance) freed.add(entry.entrance.port);
        this.remove(id, entry);
      }
    }
    const due = [...this.entries.values()].filter(
      ({ error, tunnel }) => error !== null && freed.has(tunnel.listen.port),
    );
    const added = tunnels.filter(({ id }) => !this.entries.has(id));
    await Promise.all([...due.map((entry) => this.bindAgain(entry)), ...added.map((tunnel) => this.add(tunnel))]);
  }

  private async add(tunnel: TunnelConfig): Promise<void> {
    const backoff = new Backoff(this.random);
    const entry: Entry = { tunnel, entrance: null, error: null, backoff, timer: null };
    this.entries.set(tunnel.id, entry);
    await this.bind(entry);
  }

  private async bind(entry: Entry): Promise<void> {
    const mode = this.modes[entry.tunnel.mode];
    if (!mode) {
      entry.error = `mode ${entry.tunnel.mode} is not served here`;
      return;
    }
    const entrance = mode.entrance(
      () => entry.tunnel,
      (error) => this.failed(entry, error),
    );
    entry.entrance = entrance;
    try {
      await entrance?.listen();
      entry.error = null;
    } catch (error) {
      this.failed(entry, error as Error);
    }
  }

  private failed(entry: Entry, error: Error): void {
    const { host, port } = entry.tunnel.listen;
    entry.error = `${host}:${port} ${bindFailure(error)}`;
    if (this.entries.get(entry.tunnel.id) !== entry) return;
    entry.timer ??= setFlowTimeout(null, () => this.retry(entry), entry.backoff.next());
  }

  /** Another program may have released the port. */
  private retry(entry: Entry): void {
    entry.timer = null;
    this.work = this.work.then(async () => {
      if (this.entries.get(entry.tunnel.id) === entry) await this.bindAgain(entry);
    });
  }

  private bindAgain(entry: Entry): Promise<void> {
    if (entry.timer) clearTimeout(entry.timer);
    entry.timer = null;
    entry.entrance?.close();
    return this.bind(entry);
  }

  private remove(id: number, { entrance, timer }: Entry): void {
    this.entries.delete(id);
    if (timer) clearTimeout(timer);
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
