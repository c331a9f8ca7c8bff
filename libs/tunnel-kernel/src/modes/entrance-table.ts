import { setFlowTimeout } from '@gatehouse/net';
import type { TunnelConfig, TunnelMode } from '../config.js';
import { Backoff } from '../base/backoff.js';
import type { Entrance, ServerMode } from './mode.js';

export type RunState = 'running' | 'waiting' | 'error';

/**
 * `running`: the port is bound (or none is needed) and an agent is connected. `waiting`: the same without an agent.
 * `error`: the port, or one of a range, could not be bound; the server tries again, after half a second at first and half
 * a minute at most. The other ports of the range serve meanwhile.
 */
export interface TunnelState {
  id: number;
  clientId: number;
  state: RunState;
  /** The bound port, or the first of a range; 0 for none. */
  port: number;
  /** The last bound port of a range. Absent: one port. */
  lastPort?: number;
  error: string | null;
}

/** One port of a tunnel. */
interface Door {
  entrance: Entrance | null;
  /** Why it could not be bound. */
  failure: Error | null;
}

interface Entry {
  tunnel: TunnelConfig;
  /** By the port that was asked for. */
  doors: Map<number, Door>;
  /** Set where the mode is not served here. */
  refused: string | null;
  backoff: Backoff;
  /** Timer of the next attempt with the ports that failed. */
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
    return [...this.entries.values()].map((entry) => {
      const { id, clientId, ports } = entry.tunnel;
      const error = errorOf(entry);
      const state = error !== null ? 'error' : online(clientId) ? 'running' : 'waiting';
      const bound = [...entry.doors.values()].flatMap(({ entrance }) => entrance?.port || []);
      const port = bound.length === 0 ? 0 : Math.min(...bound);
      return { id, clientId, state, port, ...(ports && port > 0 && { lastPort: Math.max(...bound) }), error };
    });
  }

  private async change(tunnels: readonly TunnelConfig[]): Promise<void> {
    const wanted = new Map(tunnels.map((tunnel) => [tunnel.id, tunnel]));
    const freed = new Set<number>();
    for (const [id, entry] of this.entries) {
      const next = wanted.get(id);
      const stays = next !== undefined && sharesPorts(entry, next);
      for (const [port, door] of entry.doors) {
        if (stays && hasPort(next, port)) continue;
        if (door.entrance) freed.add(door.entrance.port);
        close(entry, port, door);
      }
      if (stays) entry.tunnel = next;
      else this.remove(id, entry);
    }
    for (const tunnel of tunnels) if (!this.entries.has(tunnel.id)) this.add(tunnel);
    const jobs = [...this.entries.values()].flatMap((entry) => this.due(entry, freed));
    await Promise.all(jobs.map(([entry, port]) => this.bind(entry, port)));
  }

  /** New ports, and failed ones that were released. */
  private due(entry: Entry, freed: ReadonlySet<number>): [Entry, number][] {
    if (entry.refused !== null) return [];
    const known = entry.doors;
    const due = portsOf(entry.tunnel).filter((port) => {
      const door = known.get(port);
      return door === undefined || (door.failure !== null && freed.has(port));
    });
    return due.map((port) => [entry, port]);
  }

  private add(tunnel: TunnelConfig): void {
    const refused = this.modes[tunnel.mode] ? null : `mode ${tunnel.mode} is not served here`;
    const backoff = new Backoff(this.random);
    this.entries.set(tunnel.id, { tunnel, doors: new Map(), refused, backoff, timer: null });
  }

  private async bind(entry: Entry, port: number): Promise<void> {
    const before = entry.doors.get(port);
    if (before) close(entry, port, before);
    const door: Door = { entrance: null, failure: null };
    entry.doors.set(port, door);
    const failed = (error: Error): void => this.failed(entry, port, door, error);
    door.entrance = this.modes[entry.tunnel.mode]?.entrance(() => entry.tunnel, port, failed) ?? null;
    try {
      await door.entrance?.listen();
    } catch (error) {
      failed(error as Error);
    }
    if (![...entry.doors.values()].some(({ failure }) => failure !== null)) stopTimer(entry);
  }

  private failed(entry: Entry, port: number, door: Door, error: Error): void {
    door.failure = error;
    if (this.entries.get(entry.tunnel.id) !== entry || entry.doors.get(port) !== door) return;
    entry.timer ??= setFlowTimeout(null, () => this.retry(entry), entry.backoff.next());
  }

  /** Another program may have released the port. */
  private retry(entry: Entry): void {
    entry.timer = null;
    this.work = this.work.then(async () => {
      if (this.entries.get(entry.tunnel.id) !== entry) return;
      const failed = [...entry.doors].filter(([, { failure }]) => failure !== null);
      await Promise.all(failed.map(([port]) => this.bind(entry, port)));
    });
  }

  private remove(id: number, entry: Entry): void {
    this.entries.delete(id);
    stopTimer(entry);
  }
}

function close(entry: Entry, port: number, { entrance }: Door): void {
  entry.doors.delete(port);
  entrance?.close();
}

function stopTimer(entry: Entry): void {
  if (entry.timer) clearTimeout(entry.timer);
  entry.timer = null;
}

function portsOf({ listen, ports }: TunnelConfig): number[] {
  return Array.from({ length: ports?.count ?? 1 }, (_, distance) => listen.port + distance);
}

function hasPort({ listen, ports }: TunnelConfig, port: number): boolean {
  return port >= listen.port && port < listen.port + (ports?.count ?? 1);
}

/** Whether ports can stay as they are: visitors stay connected, and nobody else can take the ports. */
function sharesPorts({ tunnel, doors }: Entry, next: TunnelConfig): boolean {
  const samePlace = tunnel.mode === next.mode && tunnel.listen.host === next.listen.host;
  return samePlace && [...doors.keys()].some((port) => hasPort(next, port));
}

function errorOf({ tunnel, doors, refused }: Entry): string | null {
  const failed = [...doors].filter(([, { failure }]) => failure !== null).sort(([a], [b]) => a - b);
  const [first] = failed;
  if (!first?.[1].failure) return refused;
  const problem = `${tunnel.listen.host}:${first[0]} ${bindFailure(first[1].failure)}`;
  return failed.length === 1 ? problem : `${problem}; ${failed.length} ports of the range are not open`;
}

function bindFailure(error: NodeJS.ErrnoException): string {
  if (error.code === 'EADDRINUSE') return 'is in use';
  return error.code === 'EACCES' ? 'is not allowed' : `cannot be bound (${error.code ?? error.message})`;
}
