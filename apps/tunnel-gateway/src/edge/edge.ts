import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { guardPromise, type HandedSocket, ListeningSockets, processLoad } from '@gatehouse/net';
import type {
  CheckedTarget,
  RecordList,
  ResourceRef,
  TargetCheck,
  TunnelLogger,
  TunnelServer,
  TunnelState,
} from '@gatehouse/tunnel-kernel';
import { AccessLog } from './access-log.js';
import { AcmeAnswers } from './acme-answers.js';
import { CarriedTotals } from './carried-totals.js';
import { ClientDirectory } from './client-directory.js';
import { ConfigFeed } from './config-feed.js';
import { findClientByKey } from '../common/config-rows.js';
import { ConfigSource } from './config-source.js';
import { AddressLists } from '../common/address-lists.js';
import { AddressFiles } from '../common/address-files.js';
import { DatabasePresence } from './database-presence.js';
import { WorkerShare } from './door/worker-share.js';
import { agentsAt, answerPeer, connectionsAt } from './edge-answers.js';
import { peerOptionsOf } from './fleet/edge-peers.js';
import { EdgeDatabase } from '../common/edge-database.js';
import { TARGET_CHECK_MS } from '../common/target-check-times.js';
import { EdgeEvents } from './edge-events.js';
import { EdgeFleet } from './fleet/edge-fleet.js';
import { EdgeGrants } from './edge-grants.js';
import { EdgeWriters } from './edge-writers.js';
import type {
  ConnectionList,
  DrainParams,
  EdgeAgent,
  EdgeCalls,
  EdgeOptions,
  EdgePorts,
  EdgeStatus,
  PeerAnswers,
  PeerQuestion,
  PortName,
  RequestsQuestion,
} from '../common/edge-ipc.js';
import type { WantedState } from '../common/edge-leases.js';
import type { EdgeRole } from './edge-role.js';
import { createEdgeServer, listenAtPorts, listenForVisitors, sendAway, serveBehind } from './edge-server.js';
import type { UnsentFlows } from './flow-batch.js';
import { FlowWriter } from './flow-writer.js';
import { PasswordProcess } from './password-process.js';
import { QuotaTracker } from './quota-tracker.js';
import { Reloading } from './reloading.js';
import { ServedConfig } from './served-config.js';

/** Time for a moving agent to connect and authenticate. */
const MOVE_MS = 15_000;
const COUNT_MS = 1_000;
const POLL_MS = 10_000;
/** Many agents connect at once, and each affects all tunnels: their changes are collected for this long. */
const STATUS_DELAY_MS = 100;
const NO_PORTS: EdgePorts = { agents: 0, http: 0, https: 0 };

/** The data plane of one process: a tunnel server that follows the database, and writers that report back to it. */
export class Edge implements EdgeRole {
  private readonly options: EdgeOptions;
  /** Id of this process. */
  private readonly id = randomUUID();
  private readonly logger: TunnelLogger;
  private readonly database: EdgeDatabase;
  private readonly presence: DatabasePresence;
  private readonly writers: EdgeWriters;
  private readonly server: TunnelServer;
  private readonly sockets = new ListeningSockets();
  private readonly gaveUp = Promise.withResolvers<void>();
  /** Null: this process serves all clients. */
  private readonly share: WorkerShare | null;
  private readonly directory: ClientDirectory;
  private readonly acme = new AcmeAnswers();
  private readonly passwords = new PasswordProcess();
  /** Null: requests are not logged. */
  private readonly accessLog: AccessLog | null;
  private readonly grants: EdgeGrants;
  private readonly events: EdgeEvents;
  private readonly config: ConfigSource;
  private readonly served: ServedConfig;
  private readonly flows: FlowWriter;
  private readonly quotas: QuotaTracker;
  private readonly fleet: EdgeFleet;
  private readonly carried = new CarriedTotals();
  private readonly challenges: Reloading;
  private readonly feed: ConfigFeed;
  private readonly timers: NodeJS.Timeout[] = [];
  private statusTimer: NodeJS.Timeout | null = null;
  private ports = NO_PORTS;
  /** The ports are released: this edge only finishes, and another one may report the states of tunnels. */
  private draining = false;
  private settled = false;
  private closed = false;

  /** `onWanted`: an administrator wants this edge to be in another state. */
  constructor(options: EdgeOptions, logger: TunnelLogger, onWanted: (state: WantedState) => void) {
    const { folder } = options;
    this.options = options;
    this.logger = logger;
    this.accessLog = options.accessLog ? new AccessLog(options.accessLog, logger) : null;
    this.database = new EdgeDatabase(options.databaseUrl);
    this.presence = new DatabasePresence(logger);
    this.writers = new EdgeWriters(logger, this.presence);
    this.directory = new ClientDirectory({
      now: Date.now,
      find: (keyHash) => findClientByKey(this.database, keyHash),
    });
    const { writers } = this;
    this.grants = new EdgeGrants(this.database, Date.now, (rows, error) => writers.refused('grants', rows, error));
    this.events = new EdgeEvents({
      queries: this.database,
      now: Date.now,
      ownerOf: (clientId) => this.directory.ownerOf(clientId),
      whereabouts: {
        isOnline: (clientId) => this.server.isOnline(clientId),
        isElsewhere: (clientId) => this.server.isElsewhere(clientId),
        knowsAll: () => this.server.peers?.states().every(({ connected }) => connected) ?? true,
      },
      onProblem: (problem, fields) => logger.warn(problem, fields),
      onRefused: (rows, error) => writers.refused('events', rows, error),
    });
    const { database, presence, directory } = this;
    const share = options.worker && new WorkerShare(options.worker);
    const files = new AddressFiles(options, (problem) => logger.warn(problem));
    const lists = new AddressLists((problem) => logger.warn(problem));
    this.share = share;
    this.server = this.createServer(files, lists);
    this.config = new ConfigSource({ database, presence, logger, folder, onRows: () => this.applyRows() });
    const { server, config } = this;
    // Bytes of removed clients still count for them.
    const beforeChange = (): void => this.flows.collect();
    this.served = new ServedConfig(options, { server, logger, directory, files, lists, share, beforeChange });
    this.quotas = new QuotaTracker({
      queries: database,
      now: Date.now,
      onLeft: (quotas) => server.setQuotas(quotas),
    });
    this.flows = new FlowWriter({
      quotas: this.quotas,
      queries: database,
      now: Date.now,
      collect: (unsent) => this.collect(unsent),
      folder,
      onRefused: ({ flows, visitors }, error) => writers.refused('counters', [...flows, ...visitors], error),
    });
    this.fleet = this.createFleet(onWanted);
    this.challenges = new Reloading({ load: () => this.acme.load(database), onFailure: presence.failed });
    this.feed = new ConfigFeed({
      database,
      onNews: (everything) => guardPromise(null, config.news(everything)),
      onChallenges: () => guardPromise(null, this.challenges.news()),
      onGrants: (news) => void this.grants.receive(news).catch(presence.failed),
      onEdges: () => this.fleet.news(),
      onQuotas: () => this.quotasChanged(),
      onProblem: (problem) => logger.debug('the database cannot be listened to', { problem }),
    });
  }

  /** Reads the configuration from the database, else from the snapshot; otherwise waits for one of them. */
  async prepare(): Promise<void> {
    await this.flows.recover();
    await this.config.prepare();
    const joined = this.fleet.join();
    // The feed also reads grants and quotas, once the database is back.
    if (this.config.source !== 'database') return guardPromise(null, joined);
    await this.writers.run('counters', () => this.flows.write());
    await this.grants.read().catch(this.presence.failed);
    await joined;
  }

  /** Takes over a socket that another process listens on. */
  inherit(socket: HandedSocket): void {
    this.sockets.inherit(socket);
  }

  /** @throws EdgePortError for a port of the gateway itself. */
  async openForVisitors(given: EdgePorts | null, moving: readonly number[]): Promise<void> {
    this.server.expect(moving);
    await this.applyRows();
    if (!given) this.ports = await listenForVisitors(this.server, this.options);
  }

  /** Binds the remaining ports and starts to work. @throws EdgePortError for a port of the gateway itself. */
  async open(given: EdgePorts | null): Promise<EdgePorts> {
    // If visitors were admitted first, tunnels are bound already.
    if (this.server.tunnels().length === 0) await this.applyRows();
    this.ports = given ?? (await listenAtPorts(this.server, this.options, this.ports));
    if (given) await serveBehind(this.server, given, this.options);
    this.sockets.closeInherited();
    this.fleet.serve(this.ports);
    guardPromise(null, this.feed.start());
    this.timers.push(
      setInterval(() => guardPromise(null, this.tick()), COUNT_MS),
      setInterval(() => guardPromise(null, this.poll()), POLL_MS),
    );
    return this.ports;
  }

  status(): EdgeStatus {
    const { sessions, evicted } = this.server.datagramState();
    return {
      pid: process.pid,
      ...this.figures(),
      edge: this.options.place.edge,
      drained: this.fleet.retired,
      settling: !this.isSettled(),
      source: this.config.source,
      databaseAnswers: this.database.answers,
      problems: this.writers.problems,
      refusedRows: this.writers.refusedRows,
      ports: this.ports,
      agentPort: this.server.agentPort(),
      httpsPort: this.server.httpsPort(),
      datagrams: { sessions, evicted },
      figures: { carried: this.carried.totals(), refusals: this.server.refusals() },
      load: [processLoad()],
    };
  }

  agents(clientIds: readonly number[] | null): EdgeAgent[] {
    return agentsAt(this.server, this.directory, clientIds);
  }

  tunnels(ids: readonly number[]): TunnelState[] {
    const wanted = new Set(ids);
    return this.served.states().filter(({ id }) => wanted.has(id));
  }

  checkedTargets(hostIds: readonly number[]): CheckedTarget[] {
    return this.server.checkedTargets(hostIds);
  }

  connections(clientId: number, limit: number): ConnectionList {
    return connectionsAt(this.server, clientId, limit);
  }

  requests({ hostId, filter, limit, detailBytes }: RequestsQuestion): RecordList {
    return this.server.requests.list(hostId, filter, limit, detailBytes);
  }

  async replay({ hostId, request }: EdgeCalls['replay']['params']): Promise<EdgeCalls['replay']['result']> {
    return this.server.replay(hostId, request);
  }

  checkTarget(_clientId: number, resource: ResourceRef, port?: number): Promise<TargetCheck> {
    return this.server.checkTarget(resource, TARGET_CHECK_MS, port);
  }

  peers(question: PeerQuestion): Promise<PeerAnswers> {
    return this.fleet.peers.ask(question);
  }

  kick(clientId: number): boolean {
    const online = this.agents([clientId]).length > 0;
    this.server.disconnect(clientId);
    return online;
  }

  /** Passes on all listening sockets; returns the clients whose agents are connected. */
  handOver(give: (socket: HandedSocket) => void): Promise<number[]> {
    for (const socket of this.sockets.handles()) give(socket);
    return Promise.resolve(this.server.agents().map(({ clientId }) => clientId));
  }

  /** Releases the ports for visitors; the next edge reports the states of tunnels. */
  async yieldPorts(): Promise<void> {
    this.stepBack();
    this.server.peers?.stopListening();
    await this.server.yieldVisitors();
  }

  /** Releases the ports; resolves when the last connection has ended or the time is over. */
  async drain({ spreadMs, deadlineMs, settleMs }: DrainParams): Promise<void> {
    this.stepBack();
    // Without a successor, agents do not move.
    const moveMs = spreadMs > 0 ? spreadMs + MOVE_MS : 0;
    await this.server.drain({ spreadMs, deadlineMs, settleMs, moveMs, onReleased: () => this.gaveUp.resolve() });
  }

  retire(params: DrainParams): Promise<void> {
    return this.fleet.retire(this.drain(params).then(() => sendAway(this.server)));
  }

  /** Resolves when the ports are released, after `drain` was called. */
  released(): Promise<void> {
    return this.gaveUp.promise;
  }

  /** Serves a connection that the door accepted, with the bytes that it read. */
  receive(port: PortName, socket: Socket, head: Buffer): void {
    socket.unshift(head);
    this.server.take(port, socket);
  }

  async shutdown(graceMs: number): Promise<void> {
    await this.drain({ spreadMs: 0, deadlineMs: graceMs, settleMs: 0 });
    await this.close({ stays: false });
  }

  /** Closes everything and writes the last counters. `stays`: another edge continues. */
  async close({ stays }: { stays: boolean }): Promise<void> {
    this.stepBack();
    this.closed = true;
    await this.server.stop();
    for (const timer of this.timers) clearInterval(timer);
    if (this.statusTimer) clearTimeout(this.statusTimer);
    // Counters come first, because only this process has them: a database that hangs delays the rest until the process
    // is killed.
    await this.flows.close();
    await this.writers.run('events', () => this.events.write());
    await this.writers.run('grants of visitors', () => this.grants.writeLast());
    await Promise.all([this.config.stop(), this.challenges.stop()]);
    await this.fleet.leave(stays);
    this.passwords.close();
    await this.accessLog?.close();
    await this.feed.close();
    await this.database.close();
  }

  private createServer(files: AddressFiles, lists: AddressLists): TunnelServer {
    const { options, logger, directory, share, grants, acme, passwords, sockets, id } = this;
    const events = this.events.listener(logger, () => this.agentsChanged());
    return createEdgeServer(options, {
      logger,
      clients: directory,
      share,
      files,
      lists,
      grants,
      acme,
      passwords,
      sockets,
      peers: peerOptionsOf(options, id, (question) => answerPeer(this, question)),
      events,
      accessLog: this.accessLog,
    });
  }

  /** Once true it stays so: a link that is lost later is no reason to send visitors elsewhere. */
  private isSettled(): boolean {
    this.settled ||= this.server.knowsOthers;
    return this.settled;
  }

  private figures(): Pick<EdgeStatus, 'revision' | 'agents' | 'connections'> {
    const { server, config } = this;
    return { revision: config.rows?.revision ?? 0, agents: server.agents().length, connections: server.flows };
  }

  /** Another edge may report from now on. */
  private stepBack(): void {
    this.draining = true;
    this.events.silence();
    this.fleet.drain();
  }

  private createFleet(onWanted: (state: WantedState) => void): EdgeFleet {
    const { database, presence, share, options, id, server, logger } = this;
    return new EdgeFleet(options, {
      id,
      server,
      logger,
      queries: database,
      presence,
      figures: () => this.figures(),
      clients: () => share?.clientIds() ?? null,
      onReport: () => guardPromise(null, this.writeRunStatus()),
      onWanted,
    });
  }

  private async applyRows(): Promise<void> {
    const { rows } = this.config;
    if (!rows || this.closed) return;
    await this.served.apply(rows);
    await this.writeRunStatus();
  }

  private collect(unsent: UnsentFlows): void {
    for (const delta of this.server.takeDeltas()) {
      this.carried.add(delta);
      unsent.add(delta, this.directory.ownerOf(delta.clientId));
    }
    const lastSeen = Date.now();
    for (const hits of this.server.takeVisitors()) {
      unsent.addVisitor(hits, this.directory.ownerOf(hits.clientId), lastSeen);
    }
  }

  private async tick(): Promise<void> {
    this.served.endPreviousKeys();
    const { writers } = this;
    await writers.run('counters', () => this.flows.write());
    await writers.run('grants of visitors', () => this.grants.write());
    const { rows } = this.config;
    const clientOf = (id: number): number => rows?.tunnels.find((tunnel) => tunnel.id === id)?.clientId ?? 0;
    this.events.limited(this.server.takeHeldBack(), clientOf);
    await writers.run('events', () => this.events.write());
    await this.writeRunStatus();
  }

  private quotasChanged(): void {
    this.quotas.invalidate();
    guardPromise(
      null,
      this.writers.run('counters', () => this.flows.write()),
    );
  }

  private agentsChanged(): void {
    this.statusTimer ??= setTimeout(() => {
      this.statusTimer = null;
      guardPromise(null, this.writeRunStatus());
    }, STATUS_DELAY_MS);
  }

  private async writeRunStatus(): Promise<void> {
    const { rows } = this.config;
    if (this.draining || rows === null) return;
    const states = this.served.states();
    this.events.tunnels(states, rows, this.share?.isOwn);
    await this.writers.run('states of tunnels', () => this.fleet.report(states));
  }

  /**
   * Catches what notifications missed, and changed certificate files. The server itself retries ports that were taken.
   */
  private async poll(): Promise<void> {
    if (this.closed) return;
    // The previous edge may have written its last states after this edge's first ones.
    this.fleet.invalidate();
    this.quotas.invalidate();
    await this.config.check();
    // Connected visitors are checked again.
    if (this.served.otherFiles()) await this.applyRows();
  }
}
