import { fork } from 'node:child_process';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { bareEnvironment } from '@gatehouse/child';
import { ListeningSockets, processLoad, type HandedSocket } from '@gatehouse/net';
import {
  TrustedProxies,
  type CheckedTarget,
  type RecordList,
  type AgentPortState,
  type HttpsPortState,
  type ResourceRef,
  type TargetCheck,
  type TunnelLogger,
  type TunnelState,
} from '@gatehouse/tunnel-kernel';
import type {
  ConnectionList,
  DrainParams,
  EdgeAgent,
  EdgeCalls,
  EdgeLogEntry,
  EdgeMethod,
  EdgeOptions,
  EdgePorts,
  EdgeStatus,
  ListenAddress,
  PeerAnswers,
  PeerQuestion,
  PortName,
  RequestsQuestion,
} from '../../common/edge-ipc.js';
import type { WantedState } from '../../common/edge-leases.js';
import { EdgePortError } from '../edge-port-error.js';
import { WorkerFigures } from '../../common/edge-figures.js';
import { EdgeUnavailableError } from '../../common/edge-process.js';
import { patienceFor } from '../../common/target-check-times.js';
import { mergeRequests } from '../../common/merge-requests.js';
import type { EdgeRole } from '../edge-role.js';
import { DoorConfig } from './door-config.js';
import { chooseWorker } from './first-bytes.js';
import { SharedListener } from './shared-listener.js';
import { WorkerSlot, type WorkerChild } from './worker-slot.js';

const NO_PORTS: EdgePorts = { agents: 0, http: 0, https: 0 };
/** Without a service, visitors are not waited for. */
const ORPHAN_GRACE_MS = 0;
/** A connection that has sent nothing within this time is not waited for. */
const FRESH_MS = 2_000;
const SETTLE_LOOK_MS = 10;
/** Shorter than the time limit of the caller: a worker that hangs must not delay the answers of the others. */
const WORKER_ANSWER_MS = 1_500;

/**
 * The edge with several processes: it owns the shared ports, assigns connections to its workers, and speaks for them.
 * Bytes of visitors do not pass through it.
 */
export class EdgeDoor implements EdgeRole {
  private readonly options: EdgeOptions;
  private readonly logger: TunnelLogger;
  private readonly onWanted: (state: WantedState) => void;
  private readonly config: DoorConfig;
  private readonly slots: WorkerSlot[];
  private readonly listeners: Readonly<Record<PortName, SharedListener>>;
  private ports = NO_PORTS;
  private readonly sockets = new ListeningSockets();
  private readonly proxies: TrustedProxies;
  private readonly figures = new WorkerFigures();
  private last = 0;
  private readonly gaveUp = Promise.withResolvers<void>();

  /** `onWanted`: an administrator wants this edge to be in another state. */
  constructor(
    options: EdgeOptions,
    logger: TunnelLogger,
    onWanted: (state: WantedState) => void,
    launch: () => WorkerChild = launchWorker,
  ) {
    this.options = options;
    this.onWanted = onWanted;
    this.logger = logger;
    this.proxies = new TrustedProxies(options.trustedProxies);
    const { workers: count, databaseUrl, folder } = options;
    this.config = new DoorConfig({
      databaseUrl,
      folder,
      count,
      onProblem: (problem) => logger.debug('the door does not hear from the database', { problem }),
    });
    this.slots = Array.from({ length: count }, (_, index) => this.slot(index, launch));
    this.listeners = { agents: this.listener('agents'), http: this.listener('http'), https: this.listener('https') };
  }

  async prepare(): Promise<void> {
    await Promise.all([this.config.prepare(), ...this.slots.map((slot) => slot.prepare())]);
  }

  /** Sockets of tunnels go to the workers that serve them. */
  inherit(socket: HandedSocket): void {
    const own = this.sharedKeys().includes(socket.key);
    if (own) return this.sockets.inherit(socket);
    let left = this.slots.length;
    const sent = (): void => {
      left -= 1;
      if (left === 0) socket.handle.close();
    };
    for (const slot of this.slots) slot.inherit(socket, sent);
  }

  /** @throws EdgePortError for a port of the gateway itself. */
  async openForVisitors(_: EdgePorts | null, moving: readonly number[]): Promise<void> {
    const ports = {
      agents: this.options.agents.port,
      http: await this.listen('http'),
      https: await this.listen('https'),
    };
    this.ports = { ...ports, agents: 0 };
    await Promise.all(this.slots.map((slot) => slot.bind(ports, [...moving])));
  }

  /** @throws EdgePortError for a port of the gateway itself. */
  async open(): Promise<EdgePorts> {
    const agents = await this.listen('agents');
    if (this.ports.http > 0) this.ports = { ...this.ports, agents };
    else {
      this.ports = { agents, http: await this.listen('http'), https: await this.listen('https') };
      await Promise.all(this.slots.map((slot) => slot.bind(this.ports)));
    }
    this.sockets.closeInherited();
    this.config.start();
    return this.ports;
  }

  async status(): Promise<EdgeStatus> {
    const answers = await this.answers('status', null);
    const all = answers.filter((answer) => answer !== null);
    if (all.length === 0) throw new EdgeUnavailableError('No worker answers.');
    for (const [place, answer] of answers.entries()) {
      if (answer?.figures) this.figures.answered(place, answer.pid, answer.figures);
    }
    return {
      pid: process.pid,
      revision: Math.min(...all.map(({ revision }) => revision)),
      edge: all[0]?.edge,
      drained: all.every(({ drained }) => drained),
      settling: all.some(({ settling }) => settling),
      source: all.some(({ source }) => source === 'snapshot') ? 'snapshot' : 'database',
      databaseAnswers: all.every(({ databaseAnswers }) => databaseAnswers),
      problems: [...new Set(all.flatMap(({ problems = [] }) => problems))],
      refusedRows: sum(all.map(({ refusedRows = 0 }) => refusedRows)),
      flowFailures: sum(all.map(({ flowFailures = 0 }) => flowFailures)),
      agents: sum(all.map(({ agents }) => agents)),
      connections: sum(all.map(({ connections }) => connections)),
      ports: this.ports,
      agentPort: this.agentPort(all),
      httpsPort: this.httpsPort(all),
      datagrams: {
        sessions: sum(all.map(({ datagrams }) => datagrams?.sessions ?? 0)),
        evicted: sum(all.map(({ datagrams }) => datagrams?.evicted ?? 0)),
      },
      figures: this.figures.total(),
      load: [processLoad(), ...all.flatMap(({ load = [] }) => load)],
      workers: this.slots.map(({ pid, serving }, index) => (serving && answers[index] ? pid : null)),
    };
  }

  /** The sum over all processes: connections are silent at the door, and continue at a worker. */
  private agentPort(workers: readonly EdgeStatus[]): AgentPortState {
    const { unidentified: silent, most, evicted } = this.listeners.agents;
    const total = { silent, handshaking: 0, unauthenticated: 0, most, evicted };
    for (const { agentPort } of workers) {
      if (!agentPort) continue;
      for (const stage of ['silent', 'handshaking', 'unauthenticated', 'evicted'] as const)
        total[stage] += agentPort[stage];
    }
    return total;
  }

  private httpsPort(workers: readonly EdgeStatus[]): HttpsPortState {
    const { unidentified, most, evicted } = this.listeners.https;
    const states = workers.flatMap(({ httpsPort }) => httpsPort ?? []);
    return {
      handshaking: unidentified + sum(states.map(({ handshaking }) => handshaking)),
      most,
      evicted: evicted + sum(states.map((state) => state.evicted)),
    };
  }

  /** A worker that restarts or hangs has no connected agents. */
  async agents(clientIds: readonly number[] | null): Promise<EdgeAgent[]> {
    return (await this.ofThose('agents', { clientIds: clientIds && [...clientIds] })).flat();
  }

  async tunnels(ids: readonly number[]): Promise<TunnelState[]> {
    return (await this.ofThose('tunnels', { ids: [...ids] })).flat();
  }

  /** Each worker checks those of its own clients. */
  async checkedTargets(hostIds: readonly number[]): Promise<CheckedTarget[]> {
    return (await this.ofThose('checkedTargets', { hostIds: [...hostIds] })).flat();
  }

  connections(clientId: number, limit: number): Promise<ConnectionList> {
    return this.workerOf(clientId).request('connections', { clientId, limit });
  }

  /** Of all workers: clients may have moved between them. */
  async requests(question: RequestsQuestion): Promise<RecordList> {
    return mergeRequests(await this.ofThose('requests', question), question.limit);
  }

  replay(question: EdgeCalls['replay']['params']): Promise<EdgeCalls['replay']['result']> {
    return this.workerOf(question.clientId).request('replay', question);
  }

  checkTarget(clientId: number, resource: ResourceRef, port?: number): Promise<TargetCheck> {
    const asked = { clientId, resource, port };
    return this.workerOf(clientId).request('checkTarget', asked, patienceFor('checkTarget', 'worker'));
  }

  /** Each worker knows all other edges. */
  async peers(question: PeerQuestion): Promise<PeerAnswers> {
    for (const slot of this.slots) {
      const answer = await slot.request('peers', question).catch(() => null);
      if (answer) return answer;
    }
    throw new EdgeUnavailableError('No worker answers.');
  }

  async kick(clientId: number): Promise<boolean> {
    return (await this.ofThose('kick', { clientId })).includes(true);
  }

  async handOver(give: (socket: HandedSocket) => void): Promise<number[]> {
    for (const socket of this.sockets.handles()) give(socket);
    for (const slot of this.slots) slot.onSocket = give;
    return (await this.ofThose('handOver', null)).flat();
  }

  async yieldPorts(): Promise<void> {
    for (const port of ['http', 'https'] as const) this.listeners[port].closePort();
    await this.ofThose('yield', null);
  }

  async drain(params: DrainParams): Promise<void> {
    const ofWorkers = await this.release(params);
    await Promise.all(this.slots.map((slot) => slot.drain(ofWorkers)));
    await Promise.all(this.slots.map((slot) => slot.exited()));
  }

  async retire(params: DrainParams): Promise<void> {
    const ofWorkers = await this.release(params);
    await Promise.all(this.slots.map((slot) => slot.retire(ofWorkers)));
  }

  released(): Promise<void> {
    return this.gaveUp.promise;
  }

  async shutdown(graceMs: number): Promise<void> {
    this.closeListeners();
    await Promise.all(this.slots.map((slot) => slot.stop(graceMs)));
    await this.config.close();
  }

  /** After `drain`, or without it in a hurry: workers write their counters. */
  close(): Promise<void> {
    return this.shutdown(ORPHAN_GRACE_MS);
  }

  /** Releases the shared ports; returns what remains for the workers. */
  private async release({ settleMs, ...rest }: DrainParams): Promise<DrainParams> {
    // Waits for data channels, as a single edge does.
    if (settleMs > 0) await this.settle(settleMs);
    this.closeListeners();
    this.gaveUp.resolve();
    return { ...rest, settleMs: 0 };
  }

  /** Keys of the ports that all workers share. */
  private sharedKeys(): string[] {
    const { agents, http, https } = this.options;
    return [agents, http, https].map(({ host, port }) => `tcp ${host} ${port}`);
  }

  /** Recently accepted visitors send their requests, and their workers get the data channels for them. */
  private async settle(settleMs: number): Promise<void> {
    await delay(settleMs);
    const until = performance.now() + FRESH_MS;
    const isYoung = (): boolean => this.listeners.http.unidentified + this.listeners.https.unidentified > 0;
    while (isYoung() && performance.now() < until) await delay(SETTLE_LOOK_MS);
    await delay(settleMs);
  }

  private slot(index: number, launch: () => WorkerChild): WorkerSlot {
    const { workers: count } = this.options;
    return new WorkerSlot({
      index,
      launch,
      edge: { ...this.options, workers: 1, worker: { index, count }, takesOver: true },
      onLogs: (entries) => this.log(index, entries),
      onWanted: (state) => this.onWanted(state),
      onExit: (reason) => this.logger.warn('a worker ended, another follows', { worker: index, reason }),
    });
  }

  private listener(port: PortName): SharedListener {
    const any = (): number => this.anyWorker();
    return new SharedListener({
      port,
      hasShare: (address) => !this.proxies.has(address),
      sockets: this.sockets,
      logger: this.logger,
      any,
      choose: (bytes) => chooseWorker(port, bytes, { dealing: this.config.dealing, count: this.slots.length, any }),
      hand: (worker, socket, head) => this.hand(worker, port, socket, head),
    });
  }

  private hand(worker: number, port: PortName, socket: Socket, head: Buffer): void {
    const slot = this.slots[worker];
    if (slot) slot.hand(port, socket, head);
    else socket.destroy();
  }

  private anyWorker(): number {
    this.last = (this.last + 1) % this.slots.length;
    return this.last;
  }

  private workerOf(clientId: number): WorkerSlot {
    const slot = this.slots[this.config.dealing.ofClient(clientId)];
    if (!slot) throw new EdgeUnavailableError('There is no such worker.');
    return slot;
  }

  private listen(port: PortName): Promise<number> {
    const address: ListenAddress = this.options[port];
    return EdgePortError.guard(port, this.listeners[port].listen(address));
  }

  private closeListeners(): void {
    for (const listener of Object.values(this.listeners)) listener.close();
  }

  private log(worker: number, entries: readonly EdgeLogEntry[]): void {
    for (const { level, message, fields } of entries) this.logger[level](message, { ...fields, worker });
  }

  private async ofThose<M extends EdgeMethod>(
    method: M,
    params: EdgeCalls[M]['params'],
  ): Promise<NonNullable<EdgeCalls[M]['result']>[]> {
    return (await this.answers(method, params)).filter((answer) => answer !== null);
  }

  /** The answers of all workers; null for a worker without one. */
  private async answers<M extends EdgeMethod>(
    method: M,
    params: EdgeCalls[M]['params'],
  ): Promise<(EdgeCalls[M]['result'] | null)[]> {
    const asked = this.slots.map((slot) => slot.request(method, params, WORKER_ANSWER_MS));
    const answers = await Promise.allSettled(asked);
    return answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : null));
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

/** The same program, started as a worker. */
function launchWorker(): WorkerChild {
  return fork(process.argv[1] ?? '', [], { env: bareEnvironment(), stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
}
