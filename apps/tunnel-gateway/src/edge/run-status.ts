import type { TunnelState } from '@gatehouse/tunnel-kernel';
import type { Queries } from '../common/edge-database.js';

/** Values of tunnels.run_status. */
const STOPPED = 0;
const STATUS_OF = { running: 1, waiting: 2, error: 3 } as const;

/** See data/sql/edges.sql. */
const WRITE = 'SELECT tunnel_gateway_ops.write_tunnel_states($1, $2, $3, $4, $5, $6) AS written';

interface Reported {
  status: number;
  error: string | null;
}

export interface RunStatusOptions {
  queries: Queries;
  /** This process, which has a lease. */
  processId: string;
  /** Whose tunnels are updated; null: all. */
  clients: () => number[] | null;
  /** The process has no lease, so nothing was written. */
  onUnleased(): void;
}

/** Reports the states of tunnels at this edge. The database makes `run_status` of the states at all edges. */
export class RunStatusWriter {
  private readonly options: RunStatusOptions;
  /** Null: it is unknown what the table has of this edge. */
  private written: Map<number, Reported> | null = null;
  private running: Promise<void> | null = null;
  private next: readonly TunnelState[] = [];

  constructor(options: RunStatusOptions) {
    this.options = options;
  }

  /** Writes changes; of states that arrive during a write, the last ones count. @throws Error of the database */
  write(states: readonly TunnelState[]): Promise<void> {
    this.next = states;
    this.running ??= this.runToTheLast().finally(() => {
      this.running = null;
    });
    return this.running;
  }

  /** Another process may have written: the next write sets all states. */
  invalidate(): void {
    this.written = null;
  }

  /** No tunnel is served from now on. */
  async clear(): Promise<void> {
    await this.running?.catch(() => undefined);
    await this.write([]);
  }

  private async runToTheLast(): Promise<void> {
    let states;
    do {
      states = this.next;
      await this.run(states);
    } while (states !== this.next);
  }

  private async run(states: readonly TunnelState[]): Promise<void> {
    const wanted = new Map(states.map(({ id, state, error }) => [id, { status: STATUS_OF[state], error }]));
    const before = this.written;
    // A failed write may have arrived in part.
    this.written = null;
    const changes = before ? changesOf(before, wanted) : [...wanted];
    if (before && changes.length === 0) this.written = before;
    else if (await this.send(changes, before === null)) this.written = wanted;
    else this.options.onUnleased();
  }

  private async send(changes: readonly [number, Reported][], everything: boolean): Promise<boolean> {
    const { queries, processId, clients } = this.options;
    const { rows } = await queries.query<{ written: boolean }>(WRITE, [
      processId,
      changes.map(([id]) => id),
      changes.map(([, { status }]) => status),
      changes.map(([, { error }]) => error),
      clients(),
      everything,
    ]);
    return rows[0]?.written === true;
  }
}

function changesOf(before: ReadonlyMap<number, Reported>, wanted: ReadonlyMap<number, Reported>): [number, Reported][] {
  const gone = [...before.keys()].filter((id) => !wanted.has(id));
  const changed = [...wanted].filter(([id, { status, error }]) => {
    const known = before.get(id);
    return known?.status !== status || known.error !== error;
  });
  return [...gone.map((id): [number, Reported] => [id, { status: STOPPED, error: null }]), ...changed];
}
