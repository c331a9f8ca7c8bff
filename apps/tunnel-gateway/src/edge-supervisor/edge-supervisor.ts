import { guardPromise } from '@gatehouse/net';
import type { HandedSocket } from '@gatehouse/net';
import type { RecordList } from '@gatehouse/tunnel-kernel';
import type {
  ConnectionList,
  EdgeCalls,
  EdgeLogEntry,
  EdgeMethod,
  EdgeOptions,
  EdgePorts,
  PortName,
} from '../common/edge-ipc.js';
import { EdgeProcess, EdgeUnavailableError, type EdgeChild, type EdgeEvents } from '../common/edge-process.js';
import type { WantedState } from '../common/edge-leases.js';
import { mergeRequests } from '../common/merge-requests.js';
import { patienceFor } from '../common/target-check-times.js';
import { RestartWaits } from '@gatehouse/child';

export interface EdgeSupervisorOptions {
  launch(): EdgeChild;
  edge: Omit<EdgeOptions, 'takesOver'>;
  onLogs(entries: readonly EdgeLogEntry[]): void;
  onExit(reason: string): void;
  /** The serving process or its ports changed. */
  onChange?(): void;
}

/** Outcome of the first start. */
export type FirstStart =
  { outcome: 'ready'; ports: EdgePorts } | { outcome: 'port'; port: PortName; code: string } | { outcome: 'waiting' };

/** Time limit for a replacement to prepare. The current edge serves meanwhile, so this can be long. */
const PREPARE_MS = 60_000;
const MOVE_SPREAD_MS = 1_000;
/** How long connections of a replaced edge may continue. */
const DRAIN_MS = 10 * 60_000;
const LEAVE = { spreadMs: MOVE_SPREAD_MS, deadlineMs: DRAIN_MS };
/** Settling time for visitors that were accepted just before. */
const SETTLE_MS = 300;
/** Passing on thousands of sockets takes time. */
const HAND_OVER_MS = 30_000;

/** Keeps one edge running: restarts it when it dies or hangs, and replaces it without dropping connections. */
export class EdgeSupervisor {
  private readonly options: EdgeSupervisorOptions;
  private readonly first = Promise.withResolvers<FirstStart>();
  private current: EdgeProcess | null = null;
  private readonly draining = new Set<EdgeProcess>();
  private replacing: Promise<void> | null = null;
  private timer: NodeJS.Timeout | null = null;
  private readonly restarts = new RestartWaits();
  private stopping = false;
  /** Whether `current` accepts nobody, because an administrator wants so. */
  private retired = false;
  /** Whether a taken port fails the start: nothing has served yet, and the start is still waited for. */
  private starting = true;
  /** The process that is being prepared to replace `current`. */
  private next: EdgeProcess | null = null;
  private edge: EdgeSupervisorOptions['edge'];
  /** The process that receives the sockets of the previous edge. */
  private heir: EdgeProcess | null = null;
  /** The bound ports; 0: not yet. */
  ports: EdgePorts = { agents: 0, http: 0, https: 0 };

  constructor(options: EdgeSupervisorOptions) {
    this.options = options;
    this.edge = options.edge;
  }

  /** Resolves when the outcome is known, or after `patienceMs`. */
  async start(patienceMs: number): Promise<FirstStart> {
    this.spawn();
    const timer = setTimeout(() => this.first.resolve({ outcome: 'waiting' }), patienceMs);
    const result = await this.first.promise;
    this.starting = false;
    clearTimeout(timer);
    return result;
  }

  get pid(): number | null {
    return this.current?.pid ?? null;
  }

  /** @throws EdgeUnavailableError */
  request<M extends EdgeMethod>(method: M, params: EdgeCalls[M]['params']): Promise<EdgeCalls[M]['result']> {
    if (!this.current) return Promise.reject(new EdgeUnavailableError('The edge is not running.'));
    return this.current.request(method, params, patienceFor(method, 'edge'));
  }

  /** As `kick` of an edge, including processes that were replaced. @throws EdgeUnavailableError */
  async kick(params: EdgeCalls['kick']['params']): Promise<boolean> {
    const before = this.ofDraining('kick', params);
    return (await this.request('kick', params)) || (await before).includes(true);
  }

  /** As `connections` of an edge, including processes that were replaced. @throws EdgeUnavailableError */
  async connections(params: EdgeCalls['connections']['params']): Promise<ConnectionList> {
    const before = this.ofDraining('connections', params);
    const lists = [await this.request('connections', params), ...(await before)];
    const items = lists.flatMap((list) => list.items).slice(0, params.limit);
    return { items, total: lists.reduce((total, list) => total + list.total, 0) };
  }

  /** As `requests` of an edge, including processes that were replaced. @throws EdgeUnavailableError */
  async requests(params: EdgeCalls['requests']['params']): Promise<RecordList> {
    const before = this.ofDraining('requests', params);
    return mergeRequests([await this.request('requests', params), ...(await before)], params.limit);
  }

  /**
   * A new process takes over the ports: running connections stay with the old one, and agents move. Resolves when the
   * new one serves. `edge`: new options for it and its successors. @throws EdgeUnavailableError if it cannot take over;
   * the old one then continues, if it still can.
   */
  async replace(edge?: EdgeSupervisorOptions['edge']): Promise<void> {
    if (!edge) return this.exchangeOnce();
    await this.replacing?.catch(() => undefined);
    const before = this.edge;
    this.edge = { ...edge, ...this.keptPorts(edge) };
    try {
      await this.exchangeOnce();
    } catch (error) {
      this.edge = before;
      throw error;
    }
  }

  /** Does what an administrator wants: agents and visitors leave the edge, or it serves again. */
  private want(edge: EdgeProcess, state: WantedState): void {
    if (this.current !== edge || this.stopping || this.replacing || this.retired === (state === 'drained')) return;
    const failed = (error: unknown): void => {
      const fields = { error: String(error) };
      this.options.onLogs([{ level: 'error', message: `the edge was not ${state}`, fields }]);
    };
    if (state === 'serving') return void this.exchangeOnce().catch(failed);
    this.retired = true;
    edge.request('retire', { ...LEAVE, settleMs: SETTLE_MS }, HAND_OVER_MS).catch((error: unknown) => {
      this.retired = false;
      failed(error);
    });
  }

  /** Ends everything that `stop` is waiting for. */
  hurry(): void {
    if (!this.stopping) return;
    for (const edge of [this.current, ...this.draining]) if (edge) guardPromise(null, edge.stop(0));
  }

  async stop(graceMs: number): Promise<void> {
    this.stopping = true;
    if (this.timer) clearTimeout(this.timer);
    // It has neither ports nor visitors yet.
    this.next?.kill();
    const edges = [...(this.current ? [this.current] : []), ...this.draining];
    await Promise.all([...edges.map((edge) => edge.stop(graceMs)), this.next?.exited]);
  }

  /** The answers of draining processes, as far as they answer. */
  private async ofDraining<M extends EdgeMethod>(
    method: M,
    params: EdgeCalls[M]['params'],
  ): Promise<EdgeCalls[M]['result'][]> {
    const answers = await Promise.allSettled([...this.draining].map((edge) => edge.request(method, params)));
    return answers.filter((answer) => answer.status === 'fulfilled').map(({ value }) => value);
  }

  private spawn(): void {
    this.timer = null;
    this.retired = false;
    this.restarts.started();
    const edge = this.create(false, {
      ready: (ports) => {
        this.starting = false;
        this.keep(ports);
        this.first.resolve({ outcome: 'ready', ports });
      },
      failed: (port, code) => {
        // After the start, a taken port is retried: the service runs, and the port may have been ours.
        if (this.starting) this.stopping = true;
        this.first.resolve({ outcome: 'port', port, code });
      },
      exited: () => this.restart(edge),
    });
    this.current = edge;
    this.options.onChange?.();
  }

  /** A port that the system chose stays the same, because agents and people know it. */
  private keep(ports: EdgePorts): void {
    const { edge } = this;
    const { agents, http, https } = ports;
    this.ports = ports;
    this.edge = {
      ...edge,
      agents: { ...edge.agents, port: agents },
      http: { ...edge.http, port: http },
      https: { ...edge.https, port: https },
    };
    this.options.onChange?.();
  }

  /** New options that ask for any free port keep the ports that are bound. */
  private keptPorts(edge: EdgeSupervisorOptions['edge']): Pick<EdgeOptions, PortName> {
    const kept = (name: PortName): EdgeOptions['agents'] => ({
      ...edge[name],
      port: edge[name].port || this.ports[name],
    });
    return { agents: kept('agents'), http: kept('http'), https: kept('https') };
  }

  private restart(edge: EdgeProcess): void {
    this.draining.delete(edge);
    if (this.current !== edge) return;
    this.current = null;
    this.options.onChange?.();
    if (this.stopping) return;
    this.timer = setTimeout(() => this.spawn(), this.restarts.died());
  }

  private create(
    takesOver: boolean,
    events: Partial<EdgeEvents> & Pick<EdgeEvents, 'ready' | 'failed' | 'exited'>,
  ): EdgeProcess {
    const { options } = this;
    const edge: EdgeProcess = new EdgeProcess(
      options.launch(),
      { ...this.edge, takesOver },
      {
        prepared: () => events.prepared?.(),
        bound: () => events.bound?.(),
        socket: (socket) => this.passOn(socket),
        ready: (ports) => events.ready(ports),
        failed: (port, code) => events.failed(port, code),
        wanted: (state) => this.want(edge, state),
        logs: (entries) => options.onLogs(entries),
        exited: (reason) => {
          if (!this.stopping) options.onExit(reason);
          events.exited(reason);
        },
      },
    );
    return edge;
  }

  private exchangeOnce(): Promise<void> {
    this.replacing ??= this.exchange().finally(() => {
      this.replacing = null;
    });
    return this.replacing;
  }

  private async exchange(): Promise<void> {
    const before = this.current;
    if (!before || this.stopping) throw new EdgeUnavailableError('There is no edge to replace.');
    const prepared = Promise.withResolvers<void>();
    const bound = Promise.withResolvers<void>();
    const ready = Promise.withResolvers<void>();
    const steps = [prepared, bound, ready];
    const fail = (reason: string): void => {
      for (const step of steps) step.reject(new EdgeUnavailableError(reason));
    };
    // A rejection that nobody awaits must not end the process.
    for (const { promise } of steps) promise.catch(() => undefined);
    const next = this.create(true, {
      prepared: () => prepared.resolve(),
      bound: () => bound.resolve(),
      ready: (ports) => {
        this.keep(ports);
        bound.resolve();
        ready.resolve();
      },
      failed: (port, code) => fail(`the port for ${port} cannot be taken over: ${code}`),
      exited: (reason) => {
        fail(`the new edge ended: ${reason}`);
        this.restart(next);
      },
    });
    const limit = setTimeout(() => next.kill(`it was not prepared after ${PREPARE_MS / 1000} s`), PREPARE_MS);
    this.next = next;
    try {
      await prepared.promise;
    } finally {
      clearTimeout(limit);
      this.next = null;
    }
    if (this.stopping || this.current !== before) {
      next.kill();
      throw new EdgeUnavailableError('The edge that was to be replaced ended meanwhile.');
    }
    // The new process is the current one from here on: if it fails now, it is restarted.
    this.draining.add(before);
    this.current = next;
    this.retired = false;
    this.options.onChange?.();
    this.restarts.started();
    await this.handOver(before, next, bound.promise);
    await ready.promise;
  }

  /** Sockets go first, so that no connection is refused: connections queue in them until the next process accepts. */
  private async handOver(before: EdgeProcess, next: EdgeProcess, bound: Promise<void>): Promise<void> {
    this.heir = next;
    const drain = (settleMs: number): Promise<unknown> =>
      before.request('drain', { ...LEAVE, settleMs }, HAND_OVER_MS).catch(() => before.kill());
    try {
      const moving = await before.request('handOver', null, HAND_OVER_MS);
      await before.request('yield', null, HAND_OVER_MS);
      next.bind(null, moving ?? []);
    } catch {
      // An older edge that cannot do this, or one that is about to die.
      await drain(0);
      return next.bind();
    } finally {
      this.heir = null;
    }
    await bound;
    await drain(SETTLE_MS);
    next.admit();
  }

  private passOn(socket: HandedSocket): void {
    const close = (): void => socket.handle.close();
    if (this.heir) this.heir.inherit(socket, close);
    else close();
  }
}
