import type { TunnelState } from '@gatehouse/tunnel-kernel';
import type { ConfigRows } from '../common/config-rows.js';

export interface TunnelChange {
  type: 'tunnel.started' | 'tunnel.stopped' | 'tunnel.failed';
  state: TunnelState;
  message: string;
}

/** The part of the configuration that matters here. */
export type WantedTunnels = Pick<ConfigRows, 'clients' | 'tunnels'>;

/**
 * Reports tunnels that start, stop or fail. The presence of an agent is reported once, for its client. Tunnels that
 * were already served when the edge started, or by another process, are not reported.
 */
export class TunnelChanges {
  /** Wanted tunnels that were reported. Null: no states yet. */
  private known: Set<number> | null = null;
  private before = new Map<number, TunnelState>();

  /** `isOwn`: whether this process serves the client. */
  since(
    states: readonly TunnelState[],
    wanted: WantedTunnels,
    isOwn: (clientId: number) => boolean = () => true,
  ): TunnelChange[] {
    const { before } = this;
    const served = new Set(wanted.clients.filter(({ enabled }) => enabled).map(({ id }) => id));
    const tunnels = wanted.tunnels.filter(({ clientId }) => served.has(clientId));
    const ids = new Set(tunnels.map(({ id }) => id));
    this.known ??= new Set(ids);
    const stopped = [...before.values()].filter(({ id, error }) => error === null && !ids.has(id));
    const changes = [
      ...stopped.map((state): TunnelChange => ({ type: 'tunnel.stopped', state, message: 'The tunnel ended' })),
      ...states.flatMap((state) => changeOf(state, before.get(state.id), this.known?.has(state.id) ?? false)),
    ];
    const seen = new Set(states.filter(({ error }) => error === null).map(({ id }) => id));
    const elsewhere = tunnels.filter(({ clientId }) => !isOwn(clientId)).map(({ id }) => id);
    this.known = new Set([...this.known, ...seen, ...elsewhere].filter((id) => ids.has(id)));
    this.before = new Map(states.map((state) => [state.id, state]));
    return changes;
  }
}

function changeOf(state: TunnelState, before: TunnelState | undefined, known: boolean): TunnelChange[] {
  const { error, port, lastPort = port } = state;
  if (error !== null) {
    return before?.error === error ? [] : [{ type: 'tunnel.failed', state, message: `The tunnel failed: ${error}` }];
  }
  if (before ? before.error === null : known) return [];
  const where = port === 0 ? '' : lastPort === port ? ` on port ${port}` : ` on the ports ${port} to ${lastPort}`;
  return [{ type: 'tunnel.started', state, message: `The tunnel is served${where}` }];
}
