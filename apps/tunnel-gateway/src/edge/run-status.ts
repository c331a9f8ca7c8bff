import type { TunnelState } from '@gatehouse/tunnel-kernel';
import type { Queries } from '../common/edge-database.js';

/** Values of tunnels.run_status. */
const STOPPED = 0;
const RUNNING = 1;
const WAITING = 2;
const FAILED = 3;
const STATUS_OF = { running: RUNNING, waiting: WAITING, error: FAILED } as const;

/** Both lock their rows in the order in which counters are written. */
const RESET = `
  WITH held AS (
    SELECT id FROM tunnel_gateway.tunnels WHERE run_status <> 0 AND NOT (id = ANY ($1::bigint[]))
      AND ($2::bigint[] IS NULL OR client_id = ANY ($2::bigint[]))
    ORDER BY id FOR NO KEY UPDATE
  )
  UPDATE tunnel_gateway.tunnels t SET run_status = 0 FROM held WHERE t.id = held.id`;
const WRITE = `
  WITH held AS (
    SELECT t.id, s.status FROM tunnel_gateway.tunnels t
      JOIN unnest($1::bigint[], $2::integer[]) AS s (id, status) ON t.id = s.id AND t.run_status <> s.status
    WHERE $3::bigint[] IS NULL OR t.client_id = ANY ($3::bigint[])
    ORDER BY t.id FOR NO KEY UPDATE OF t
  )
  UPDATE tunnel_gateway.tunnels t SET run_status = held.status FROM held WHERE t.id = held.id`;

/** Keeps `run_status` of the tunnels up to date; nothing else writes it. */
export class RunStatusWriter {
  private readonly queries: Queries;
  private readonly clients: () => number[] | null;
  /** Null: the state of the table is unknown. */
  private written: Map<number, number> | null = null;
  private running: Promise<void> | null = null;
  private next: readonly TunnelState[] = [];

  /** `clients`: whose tunnels are updated; null: all. */
  constructor(queries: Queries, clients: () => number[] | null = () => null) {
    this.queries = queries;
    this.clients = clients;
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
  doubt(): void {
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
    const wanted = new Map(states.map(({ id, state }) => [id, STATUS_OF[state]]));
    const before = this.written;
    const clients = this.clients();
    // A failed write may have arrived in part.
    this.written = null;
    if (before === null) await this.queries.query(RESET, [[...wanted.keys()], clients]);
    const gone = [...(before?.keys() ?? [])].filter((id) => !wanted.has(id)).map((id) => [id, STOPPED] as const);
    const changed = [...wanted].filter(([id, status]) => before?.get(id) !== status);
    const news = [...gone, ...changed];
    if (news.length > 0) {
      await this.queries.query(WRITE, [news.map(([id]) => id), news.map(([, status]) => status), clients]);
    }
    this.written = new Map(wanted);
  }
}
