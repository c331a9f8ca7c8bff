import type { Socket } from 'node:net';
import type { TunnelConfig } from '../config.js';
import { TcpEntrance } from './tcp-entrance.js';

export type RunState = 'running' | 'waiting' | 'error';

/** `running`: port bound, agent connected. `waiting`: port bound, no agent. `error`: the port could not be bound. */
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
  entrance: TcpEntrance;
  error: string | null;
}

/** The public ports of all tunnels. */
export class EntranceTable {
  private readonly entries = new Map<number, Entry>();
  private readonly onVisitor: (tunnel: TunnelConfig, socket: Socket) => void;
  private work: Promise<void> = Promise.resolve();

  constructor(onVisitor: (tunnel: TunnelConfig, socket: Socket) => void) {
    this.onVisitor = onVisitor;
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
      return { id, clientId, state, port: entrance.port, error };
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
    const fail = (error: Error): void => {
      entry.error = `${tunnel.listen.host}:${tunnel.listen.port} ${bindFailure(error)}`;
    };
    const accept = (socket: Socket): void => this.onVisitor(entry.tunnel, socket);
    const entry: Entry = { tunnel, entrance: new TcpEntrance(tunnel.listen, accept, fail), error: null };
    this.entries.set(tunnel.id, entry);
    await entry.entrance.listen().catch(fail);
  }

  private remove(id: number, { entrance }: Entry): void {
    this.entries.delete(id);
    entrance.close();
  }
}

function sameAddress({ tunnel: { listen } }: Entry, { listen: next }: TunnelConfig): boolean {
  return listen.host === next.host && listen.port === next.port;
}

function bindFailure(error: NodeJS.ErrnoException): string {
  if (error.code === 'EADDRINUSE') return 'is in use';
  return error.code === 'EACCES' ? 'is not allowed' : `cannot be bound (${error.code ?? error.message})`;
}
