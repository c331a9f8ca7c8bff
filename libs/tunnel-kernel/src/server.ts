import type { Socket } from 'node:net';
import { guardPromise, ListeningSockets, setFlowTimeout } from '@gatehouse/net';
import { AccessControl } from './access/access-control.js';
import type { Refusals } from './access/gate.js';
import { TrustedProxies } from './access/trusted-proxies.js';
import type { VisitorVerifier } from './access/visitor-verifier.js';
import { checkConfig, EMPTY_CONFIG, type TunnelServerConfig } from './config.js';
import { ServerDatagrams, type DatagramState } from './datagrams/server-datagrams.js';
import { settled, spreadOf, type DrainOptions } from './draining.js';
import type { HostAndPort } from './environment.js';
import { TunnelError } from './errors.js';
import { FlowLedger, type FlowDelta, type FlowRecord } from './flow-ledger.js';
import type { HeldBack } from './limits/rate-limits.js';
import type { TrafficQuota } from './limits/traffic-quotas.js';
import { EntranceTable, type TunnelState } from './modes/entrance-table.js';
import { createModes } from './modes/mode-table.js';
import type { ModeContext } from './modes/mode.js';
import { PrivateMode } from './modes/private/private-mode.js';
import { RendezvousTable } from './modes/private/rendezvous-table.js';
import type { RequestRecorder } from './recording/request-recorder.js';
import { resourceKey, type ResourceRef } from './resource.js';
import {
  DEFAULT_SERVER_DATAGRAM_LIMITS,
  DEFAULT_TIMEOUTS,
  type AgentState,
  type ConnectionState,
  type ServerTimeouts,
  type TunnelServerEnvironment,
} from './server-environment.js';
import { LentChannels } from './peers/lent-channels.js';
import { PeerServers } from './peers/peer-servers.js';
import { AgentSessions } from './session/agent-sessions.js';
import { AgentListener } from './session/agent-listener.js';
import { ServerIdentities } from './session/server-identities.js';
import type { AgentPortState } from './session/unknown-connections.js';
import { clientDisabled, type ServerSession } from './session/server-session.js';
import { checkTarget, type TargetCheck } from './target-check.js';
import { createVerifier } from './verification/create-verifier.js';
import { PolicyVerifier, type GrantOutcome, type GrantRequest } from './verification/policy-verifier.js';
import type { CheckedTarget } from './vhost/health-checks.js';
import { HttpGateway, type AgentConnections, type HttpsPortState } from './vhost/http-gateway.js';
import type { ReplayRefusal, ReplayRequest } from './vhost/replay.js';
import { VisitorLedger, type VisitorHits } from './visitor-ledger.js';
import type { EdgesMessage, RefusedMessage } from './wire/messages.js';

const MAX_UNIDENTIFIED = 4096;
/** Before an agent counts as silent, nothing has been heard of it for so long. */
const UNHEARD_MS = 3_000;

/** The tunnel's server: agents connect to one port, visitors to the ports of the tunnels. */
export class TunnelServer {
  private readonly environment: TunnelServerEnvironment;
  private readonly timeouts: ServerTimeouts;
  private readonly identities: ServerIdentities;
  private readonly sessions: AgentSessions;
  private readonly lent: LentChannels;
  /** The other servers of the gateway; null: there are none. */
  readonly peers: PeerServers | null;
  private readonly ledger: FlowLedger;
  private readonly entrances: EntranceTable;
  private readonly agentListener: AgentListener;
  private readonly http: HttpGateway;
  private readonly proxies: TrustedProxies;
  private readonly access: AccessControl;
  private readonly verifier: VisitorVerifier;
  private readonly datagrams: ServerDatagrams;
  private readonly visitors = new VisitorLedger();
  private readonly paths: RendezvousTable;
  private readonly privateMode: PrivateMode;
  private config: TunnelServerConfig = EMPTY_CONFIG;
  private readonly sockets: ListeningSockets;
  /** The ports for visitors have been released. */
  private yielded = false;
  private onIdle: (() => void) | null = null;

  constructor(environment: TunnelServerEnvironment) {
    this.environment = environment;
    this.identities = new ServerIdentities(environment);
    this.sockets = environment.sockets ?? new ListeningSockets();
    this.timeouts = { ...DEFAULT_TIMEOUTS, ...environment.timeouts };
    this.ledger = new FlowLedger(environment.now, (record) => this.flowClosed(record), {
      visitors: this.visitors,
      mayRun: (flow) => this.access.mayStay(flow),
    });
    this.proxies = new TrustedProxies(environment.trustedProxies ?? []);
    this.access = this.createAccess();
    this.sessions = this.createSessions();
    this.lent = new LentChannels(this.timeouts.ticket, (ticketId) => this.peers?.issuerOf(ticketId));
    this.peers = this.createPeers();
    this.verifier = environment.verifier ?? createVerifier(environment);
    const limits = { ...DEFAULT_SERVER_DATAGRAM_LIMITS, ...environment.datagrams };
    this.datagrams = new ServerDatagrams({
      sockets: this.sockets,
      now: environment.now,
      logger: environment.logger,
      ledger: this.ledger,
      maxSessions: limits.sessions,
      nearMs: limits.nearMs,
      openChannel: (clientId, start) => this.sessions.channels.open(clientId, start),
      isElsewhere: (clientId) => this.sessions.remote.has(clientId),
      packetsPerKey: limits.packetsPerKey,
      renew: (clientId) => this.sessions.of(clientId)?.move(0),
    });
    const shared: ModeContext = {
      now: environment.now,
      logger: environment.logger,
      ledger: this.ledger,
      admission: this.access.admission,
      verifier: this.verifier,
      channels: this.sessions.channels,
      datagrams: this.datagrams,
      sockets: this.sockets,
    };
    this.paths = this.createPaths(shared);
    this.privateMode = new PrivateMode(shared, this.paths);
    this.entrances = new EntranceTable(createModes(shared, this.privateMode, limits));
    this.http = this.createHttp(shared);
    this.agentListener = new AgentListener({
      identities: this.identities,
      logger: environment.logger,
      tickets: this.sessions.tickets,
      sockets: this.sockets,
      handshakeMs: this.timeouts.handshake,
      maxUnidentified: environment.maxUnidentified ?? MAX_UNIDENTIFIED,
      onControl: (stream, arrival, known) => this.sessions.accept(stream, arrival, known),
      proxies: this.proxies,
      serves: (tag) => environment.serves?.(tag) ?? true,
      onVisitor: (stream, arrival, known) => guardPromise(stream, this.privateMode.receive(stream, arrival, known)),
      passOn: (ticketId, opening, stream) => this.lent.passOn(ticketId, opening, stream),
      onMapping: (stream, known) => guardPromise(stream, this.paths.receive(stream, known)),
    });
  }

  /** Opens the port for agents, TCP and UDP, and returns it. @throws Error of `listen`. */
  async listen(address: HostAndPort): Promise<number> {
    const port = await this.agentListener.listen(address);
    this.sessions.begin();
    this.peers?.begin();
    await this.datagrams.listen({ host: address.host, port });
    return port;
  }

  /**
   * Announces clients whose agents are moving here from another server: visitors may come before the port for agents is
   * open.
   */
  expect(clientIds: readonly number[]): void {
    this.sessions.begin(clientIds);
    this.peers?.begin();
  }

  /**
   * Replaces the three `listen` methods where another process has the ports and passes connections on (`take`).
   * `packets`: a UDP port of this process alone, for its agents; `https`: the port that visitors use.
   */
  async serve(packets: HostAndPort, https: number): Promise<void> {
    this.sessions.begin();
    this.peers?.begin();
    this.http.serve(https);
    await this.datagrams.listen(packets);
  }

  /** Serves a connection that another process accepted; bytes that it read have been put back. */
  take(port: 'agents' | 'http' | 'https', socket: Socket): void {
    if (port === 'agents') this.agentListener.take(socket);
    else this.http.take(port, socket);
  }

  /** Opens a port for visitors of hosts and returns it. @throws Error of `listen`. */
  listenHttp(address: HostAndPort): Promise<number> {
    return this.http.listenHttp(address);
  }

  /** As `listenHttp`, over TLS: the certificate is chosen by the server name that the visitor sends. */
  listenHttps(address: HostAndPort): Promise<number> {
    return this.http.listenHttps(address);
  }

  /**
   * Applies a new configuration: binds and releases ports, updates agents and resets connections that are no longer
   * allowed. A port that cannot be bound shows in the state of its tunnel and is not a failure. @throws TunnelError for
   * an invalid tunnel.
   */
  async apply(config: TunnelServerConfig): Promise<TunnelState[]> {
    checkConfig(config);
    // This comes first, because it may refuse the whole configuration.
    this.access.apply(config);
    const before = this.config;
    this.config = config;
    this.verifyAgain(config);
    this.endSessions(before);
    this.sessions.configure(config);
    this.http.apply(config);
    await this.bind();
    this.privateMode.enforce();
    return this.tunnels();
  }

  /**
   * Lets a visitor's address use a raw tunnel, given the password of one of its policies. @throws TunnelError
   * `overloaded`
   */
  async grant(request: GrantRequest): Promise<GrantOutcome> {
    const { verifier } = this;
    return verifier instanceof PolicyVerifier ? verifier.grant(request) : { granted: false, reason: 'unknown' };
  }

  tunnels(): TunnelState[] {
    return this.entrances.states((clientId) => this.sessions.isOnline(clientId));
  }

  /** Whether an agent of the client is connected, here or to another server of the gateway. */
  isOnline(clientId: number): boolean {
    return this.sessions.isOnline(clientId);
  }

  /** Whether one is connected to another server. */
  isElsewhere(clientId: number): boolean {
    return this.sessions.remote.has(clientId);
  }

  /** Whether it knows the agents of all other servers, or has waited for them long enough. */
  get knowsOthers(): boolean {
    return this.peers?.known ?? true;
  }

  /** Number of agents' connections with this server. */
  get agentCount(): number {
    return this.sessions.size;
  }

  agents(): AgentState[] {
    return this.sessions.states();
  }

  /** Number of running connections of visitors. */
  get flows(): number {
    return this.ledger.size;
  }

  /** The running connections of a client's visitors. */
  connections(clientId: number): ConnectionState[] {
    const running = [...this.ledger.running()].filter((flow) => flow.clientId === clientId);
    return running.map(({ resource, visitor, startedAt, counter }) => ({ resource, visitor, startedAt, ...counter }));
  }

  /** The last requests of hosts whose owners want to see them. */
  get requests(): RequestRecorder {
    return this.http.recorder;
  }

  /** Sends a recorded request of a host again, past the verification of visitors; returns the id of its own record. */
  replay(hostId: number, request: ReplayRequest): { id: string } | { refusal: ReplayRefusal } {
    const host = this.config.hosts.find(({ id }) => id === hostId);
    return host ? this.http.replay(host, request) : { refusal: 'unrecorded' };
  }

  /** Reaches the target of a tunnel or host through its agent, as for a visitor, whom no rule or policy stops. */
  checkTarget(resource: ResourceRef, timeoutMs: number, port?: number): Promise<TargetCheck> {
    const { config, http, sessions } = this;
    const isOnline = (clientId: number): boolean => sessions.isOnline(clientId);
    return checkTarget({ config, http, channels: sessions.channels, isOnline }, resource, timeoutMs, port);
  }

  /** What health checks found out about the targets of these hosts. */
  checkedTargets(hostIds: readonly number[]): CheckedTarget[] {
    return this.http.checkedTargets(hostIds);
  }

  /** Connections to the port for agents that have not authenticated yet. */
  agentPort(): AgentPortState {
    return this.agentListener.state;
  }

  /** TLS handshakes of visitors in progress. */
  httpsPort(): HttpsPortState {
    return this.http.handshakes();
  }

  /** Sessions of UDP visitors, and counts of dropped packets. */
  datagramState(): DatagramState {
    return this.datagrams.state();
  }

  /** What was carried since the last call. */
  takeDeltas(): FlowDelta[] {
    const deltas = this.ledger.takeDeltas();
    this.access.quotas.taken(deltas);
    return deltas;
  }

  /** Replaces all traffic quotas. What is left of each counts from now on. */
  setQuotas(quotas: Iterable<TrafficQuota>): void {
    this.access.quotas.set(quotas);
  }

  /** Visitors since the last call. */
  takeVisitors(): VisitorHits[] {
    return this.visitors.take();
  }

  /** Refused visitors since the start, by reason. */
  refusals(): Refusals {
    return this.access.refusals();
  }

  /** Clients and tunnels whose rate limit delayed visitors since the last call. */
  takeHeldBack(): HeldBack[] {
    return this.access.takeHeldBack();
  }

  /** Sends agents the edges of the gateway, so that they can keep connections to several. */
  announceEdges(edges: Omit<EdgesMessage, 'type'>): void {
    this.sessions.announce({ type: 'edges', ...edges });
  }

  /** Ends the sessions and all connections of a client with this server. The agent of an enabled client will reconnect soon. */
  disconnect(clientId: number, reason = this.farewell(clientId)): void {
    this.sessions.end(clientId, reason);
    this.ledger.stop((flow) => flow.clientId === clientId);
  }

  /**
   * Releases the ports for visitors but not the one for agents; visitors that were accepted before are still served.
   */
  async yieldVisitors(): Promise<void> {
    this.yielded = true;
    this.http.closePorts();
    await this.bind();
  }

  /**
   * Releases the ports, asks agents to reconnect within `spreadMs` to the process that has the port then, and waits
   * until the connections have ended, `deadlineMs` at most. `stop` resets what is left.
   */
  async drain({ spreadMs, deadlineMs, settleMs = 0, moveMs = 0, onReleased }: DrainOptions): Promise<void> {
    const { http, sessions } = this;
    if (settleMs > 0) await settled({ fresh: () => http.fresh, waiting: () => sessions.waiting }, settleMs);
    http.drain();
    await this.giveUpPorts();
    onReleased?.();
    sessions.move(spreadOf(sessions.states().length, spreadMs));
    const moved = sessions.moved(moveMs).then(() => this.peers?.withdraw());
    await Promise.all([moved, this.idle(deadlineMs), this.lent.ended(deadlineMs)]);
  }

  /** Closes everything. */
  async stop(): Promise<void> {
    this.access.stop();
    this.verifier.stop?.();
    await this.giveUpPorts();
    this.ledger.stop(() => true);
    this.paths.stop();
    this.http.stop();
    this.sessions.stop();
    this.agentListener.destroyUnidentified();
    this.agentListener.closeWebSockets();
    this.lent.stop();
    await this.peers?.close();
  }

  private async idle(deadlineMs: number): Promise<void> {
    if (this.ledger.size === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, deadlineMs);
      this.onIdle = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  private giveUpPorts(): Promise<void> {
    this.yielded = true;
    this.agentListener.close();
    this.datagrams.closePort();
    return this.bind();
  }

  private farewell(clientId: number): TunnelError {
    const served = this.access.gate.clientRefusal(clientId) === null;
    if (served) return new TunnelError('kicked', 'the session was ended by an administrator');
    return clientDisabled();
  }

  private createPaths(context: ModeContext): RendezvousTable {
    return new RendezvousTable({
      context,
      enabled: this.environment.p2p ?? true,
      senderTo: (clientId) => {
        const session = this.sessions.of(clientId);
        return session ? (order) => session.send(order) : null;
      },
    });
  }

  /** Resets visitors whose policy has changed since they were admitted. */
  private verifyAgain(config: TunnelServerConfig): void {
    const changed = this.verifier.apply?.(config);
    if (!changed || changed.size === 0) return;
    this.ledger.stop(({ resource }) => changed.has(resourceKey(resource)));
    this.access.admission.reset(changed);
  }

  private createHttp(shared: ModeContext): HttpGateway {
    const { http = {}, identity } = this.environment;
    const agents: AgentConnections = {
      certificate: { chain: identity.certificate, key: identity.key },
      accept: (socket) => this.agentListener.takeSecure(socket),
      upgrade: ({ url = '', headers }, socket) =>
        this.agentListener.upgrade({ target: url, field: (name) => headers[name]?.toString() }, socket),
    };
    return new HttpGateway(shared, this.proxies, http, agents, {
      isOnline: (clientId) => this.sessions.isOnline(clientId),
      onChange: (change) => this.environment.events?.targetChanged?.(change),
    });
  }

  private createAccess(): AccessControl {
    const { now, events, logger, countryOf, asnOf, inList, geoStrict } = this.environment;
    return new AccessControl({
      now,
      ledger: this.ledger,
      countryOf,
      asnOf,
      inList,
      geoStrict,
      proxies: this.proxies,
      proxyHeaderMs: this.timeouts.proxyHeader,
      onDenied: (visitors) => {
        logger.debug('visitors were refused', { ...visitors });
        events?.denied?.(visitors);
      },
      onExpired: (clientIds) => {
        this.endSessions(this.config);
        this.bind().catch((error: unknown) => logger.error('ports could not be given up', { error: String(error) }));
        for (const id of clientIds) events?.expired?.(id);
      },
      onUsedUp: (quotas, connections) => logger.warn('traffic quotas are used up', { quotas, connections }),
    });
  }

  /** Binds the ports of all served clients. */
  private bind(): Promise<void> {
    const served = this.config.tunnels.filter(({ clientId }) => this.access.gate.clientRefusal(clientId) === null);
    return this.entrances.apply(this.yielded ? [] : served);
  }

  /**
   * Ends the sessions of clients that were disabled, expired or removed. A client that this configuration does not know
   * yet is only too new.
   */
  private endSessions(before: TunnelServerConfig): void {
    for (const { id } of [...before.clients, ...this.config.clients]) {
      if (this.access.gate.clientRefusal(id) !== null && this.sessions.of(id)) this.disconnect(id);
    }
  }

  private createSessions(): AgentSessions {
    const { environment, timeouts } = this;
    return new AgentSessions({
      environment,
      identities: this.identities,
      timeouts,
      packetPort: () => (environment.worker === undefined ? null : this.datagrams.port || null),
      viaPackets: (clientId) => this.datagrams.viaPackets(clientId),
      came: (session) => this.agentCame(session),
      answering: (session, answers) => this.agentAnswers(session, answers),
      sessionEnded: (session, error, next) => this.agentLeft(session, error, next),
      said: (clientId, message) => this.paths.said(clientId, message),
      refused: (clientId, message) => {
        if (!this.peers?.passRefusal(clientId, message)) this.targetFailed(clientId, message);
      },
    });
  }

  private createPeers(): PeerServers | null {
    const { peers: options, logger, worker = null, events } = this.environment;
    if (!options) return null;
    const { sessions, lent } = this;
    const { shared: limits } = this.access;
    return new PeerServers({
      options,
      logger,
      now: this.environment.now,
      othersMs: this.timeouts.others,
      worker,
      sessions,
      lent,
      limits,
      changed: (clientIds, left, silent) => {
        for (const id of clientIds) if (!sessions.isOnline(id)) this.http.agentLeft(id);
        for (const id of left) {
          this.http.agentLeft(id);
          this.datagrams.oneLeft(id);
        }
        if (silent.length > 0) this.waySilent(silent);
        events?.agentsElsewhere?.(clientIds);
      },
      refused: (clientId, message) => this.targetFailed(clientId, message),
    });
  }

  private targetFailed(clientId: number, { kind, id, reason }: Omit<RefusedMessage, 'type'>): void {
    if (this.access.gate.ownerOf({ kind, id }) !== clientId) return;
    this.environment.events?.targetFailed?.({ kind, id }, reason);
  }

  private agentCame(session: ServerSession): void {
    const { id } = session.identity.client;
    // New requests should no longer go through another server.
    if (this.sessions.remote.has(id) && this.sessions.current(id).length === 1) this.http.agentLeft(id);
    this.datagrams.agentCame(id, session.exportKeys);
    this.peers?.agentCame(session);
  }

  /** An agent has fallen silent, or speaks again: other ways to its client are used meanwhile, if there are any. */
  private agentAnswers(session: ServerSession, answers: boolean): void {
    const { id } = session.identity.client;
    // Connections to targets that are kept for further requests lead another way.
    this.http.agentLeft(id);
    if (answers && session.withheld) this.peers?.agentCame(session);
    session.withheld = !answers && this.sessions.hasOther(session);
    if (!session.withheld) return;
    this.peers?.agentLeft(session, true);
    this.datagrams.oneLeft(id);
    this.waySilent([id]);
  }

  /** Requests of these clients that were sent while nothing was heard of an agent are sent another way. */
  private waySilent(clientIds: readonly number[]): void {
    const since = this.environment.now() - UNHEARD_MS;
    this.ledger.elsewhere(({ clientId, startedAt }) => startedAt >= since && clientIds.includes(clientId));
  }

  /** `next`: another session of the client, which datagrams and direct paths use now. */
  private agentLeft(session: ServerSession, error: TunnelError, next: ServerSession | null): void {
    const clientId = session.identity.client.id;
    this.peers?.agentLeft(session);
    this.http.agentLeft(clientId);
    if (this.sessions.of(clientId) && !next) return this.datagrams.oneLeft(clientId);
    this.datagrams.agentLeft(clientId);
    this.paths.agentLeft(clientId);
    if (next) return this.datagrams.agentCame(clientId, next.exportKeys);
    // Its connections may still be on their way, except those of an agent that fell silent and stays away.
    if (error.code !== 'silent') return;
    setFlowTimeout(
      null,
      () => {
        if (!this.sessions.isOnline(clientId)) this.ledger.stop((flow) => flow.clientId === clientId);
      },
      this.timeouts.silentGrace,
    ).unref();
  }

  private flowClosed(record: FlowRecord): void {
    this.environment.events?.flowClosed?.(record);
    if (this.ledger.size === 0) this.onIdle?.();
  }
}
