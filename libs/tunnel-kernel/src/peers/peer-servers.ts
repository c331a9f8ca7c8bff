import {
  ChannelError,
  ControlServer,
  dialControl,
  NextTurn,
  setFlowInterval,
  setFlowTimeout,
  type ControlLink,
} from '@gatehouse/net';
import { Backoff } from '../base/backoff.js';
import type { HostAndPort, TunnelLogger } from '../environment.js';
import type { AgentSessions } from '../session/agent-sessions.js';
import { SHARE_MS, type SharedLimits } from '../limits/shared-limits.js';
import { REMOTE_SWEEP_MS, type RemoteAgent } from '../session/remote-agents.js';
import type { ServerSession } from '../session/server-session.js';
import { serverTag, tagOfTicket } from '../session/ticket-table.js';
import type { RefusedMessage } from '../wire/messages.js';
import type { Borrower, LentChannels } from './lent-channels.js';
import { PeerLink, type PeerLinkHandlers } from './peer-link.js';
import type { PeerAddress, PeerOptions, PeerState } from './peer-options.js';
import type { PeerAgents, PeerRefusal, PeerTickets } from './peer-messages.js';

/** A server that is silent for so long counts as gone, though its system did not close the link. */
const LINK_LIMITS = { maxMessageBytes: 8 * 1_048_576, heartbeatMs: 1_000, silentMs: 5_000 };
const DIAL_AGAIN = { firstMs: 200, mostMs: 2_000 };
/** How long a link from a server that is not in the list yet may wait for the list. */
const UNLISTED_MS = 30_000;

interface PeerServersContext {
  options: PeerOptions;
  logger: TunnelLogger;
  /** Milliseconds since the epoch. */
  now: () => number;
  /** How long agents of a server that is not linked are waited for, milliseconds. */
  othersMs: number;
  worker: number | null;
  sessions: AgentSessions;
  lent: LentChannels;
  limits: SharedLimits;
  /**
   * Agents of these clients came or left at another server; `left`: those of which one left, `silent`: or is silent there.
   */
  changed(clientIds: readonly number[], left: readonly number[], silent: readonly number[]): void;
  /** An agent of another server could not reach a target for a visitor of this one. */
  refused(clientId: number, message: Omit<RefusedMessage, 'type'>): void;
}

interface Peer {
  address: PeerAddress;
  /** In the ids of its tickets, hex. */
  tag: string;
  link: PeerLink | null;
  dialing: boolean;
  /** Since when its agents are not known; null: they are. */
  unknownSince: number | null;
  timer: NodeJS.Timeout | null;
  backoff: Backoff;
}

/**
 * The other servers of the gateway: each knows which agents are connected to which server, and serves visitors through
 * all of them. There is one link between two servers; the one with the lower id dials.
 */
export class PeerServers {
  private readonly context: PeerServersContext;
  private readonly server: ControlServer;
  private readonly peers = new Map<string, Peer>();
  private readonly links = new Set<PeerLink>();
  private readonly handlers: PeerLinkHandlers;
  private readonly timers: NodeJS.Timeout[];
  /** Changes of this server's agents that were not sent yet. */
  private came: RemoteAgent[] = [];
  private left: PeerAgents['left'] = [];
  private readonly sending = new NextTurn(null, () => this.sendChanges());
  /** Until the first list of other servers: since when there may be some. */
  private unlistedSince: number | null = null;
  private listed = false;
  private withdrawn = false;
  private closed = false;

  constructor(context: PeerServersContext) {
    this.context = context;
    const { options, logger } = context;
    this.handlers = {
      greeted: (link) => this.greeted(link),
      agents: (link, change) => this.agentsChanged(link, change),
      known: (link) => this.nowKnown(link),
      visited: ({ clientId, key }) => this.agentOf(clientId, key)?.visited(),
      tickets: (link, tickets) => this.lend(link, tickets),
      uses: (link, uses) => context.limits.receive(link, uses),
      refused: ({ clientId, refusal }: PeerRefusal) => context.refused(clientId, refusal),
      answer: (method, params) =>
        options.answer?.(method, params) ?? Promise.reject(new ChannelError('unknown', `no answer to ${method}`)),
      closed: (link) => this.linkClosed(link),
    };
    this.server = new ControlServer({
      keys: options.keys,
      limits: LINK_LIMITS,
      onLink: (link) => this.accept(link),
      onRefused: (error) => logger.warn('a link of another server was refused', { error: error.message }),
    });
    this.timers = [
      setFlowInterval(null, () => context.sessions.remote.sweep(), REMOTE_SWEEP_MS),
      setFlowInterval(null, () => this.links.size > 0 && context.limits.turn(), SHARE_MS),
    ];
    for (const timer of this.timers) timer.unref();
  }

  /** Id of this process. */
  get id(): string {
    return this.context.options.id;
  }

  /** Accepts links; returns where. `address`: instead of that of the options. @throws Error of `listen`. */
  async listen(address = this.context.options.listen): Promise<HostAndPort> {
    const endpoint = await this.server.listen(address);
    return endpoint as HostAndPort;
  }

  /** Visitors can come: those of clients without a known agent wait for the lists of others from now on. */
  begin(): void {
    if (!this.listed) this.unlistedSince ??= this.context.now();
    this.tellUnknown();
  }

  /** Whether all agents of all other servers are known, or have been waited for long enough. */
  get known(): boolean {
    if (!this.listed && this.unlistedSince === null) return false;
    return this.context.now() >= this.unknownUntil();
  }

  /** Another process of this server takes over the port. Links stay. */
  stopListening(): void {
    this.server.stopListening();
  }

  /**
   * Replaces the list of other servers. One that is missing now keeps its link while it lasts: a server that is cut off
   * from what the list comes from still serves.
   */
  apply(addresses: readonly PeerAddress[]): void {
    const { id: own } = this.context.options;
    // As many again for those that start before this server hears of them.
    this.server.expect(2 * addresses.length);
    const listed = new Map(addresses.filter(({ id }) => id !== own).map((address) => [address.id, address]));
    for (const [id, peer] of this.peers) if (!listed.has(id) && !peer.link) this.forget(id, peer);
    for (const [id, address] of listed) {
      const peer = this.peers.get(id);
      if (peer) peer.address = address;
      else this.add(address);
    }
    this.listed = true;
    this.tellUnknown();
  }

  /** The other server that issued a ticket. */
  issuerOf(ticketId: string): Borrower | undefined {
    const tag = tagOfTicket(ticketId);
    for (const { address, link, tag: own } of this.peers.values())
      if (own === tag && link) return { id: address.id, worker: link.worker, agents: address.agents };
    return undefined;
  }

  /** Asks another server. @throws ChannelError `unavailable` if it does not answer. */
  ask(id: string, method: string, params: unknown, timeoutMs: number): Promise<unknown> {
    const link = this.peers.get(id)?.link;
    if (!link) return Promise.reject(new ChannelError('unavailable', `no link to the server ${id}`));
    return link.ask(method, params, timeoutMs);
  }

  states(): PeerState[] {
    return [...this.peers].map(([id, { link }]) => ({ id, connected: link !== null, agents: link?.agents ?? 0 }));
  }

  /** An agent has connected to this server. */
  agentCame(session: ServerSession): void {
    if (this.withdrawn) return;
    this.came.push(remoteAgentOf(session));
    this.sending.schedule();
  }

  /** An agent of this server no longer serves its client. `silent`: it may come again. */
  agentLeft({ order, identity }: ServerSession, silent = false): void {
    const unsent = this.came.findIndex(({ key }) => key === order);
    if (unsent >= 0) return void this.came.splice(unsent, 1);
    this.left.push({ clientId: identity.client.id, key: order, silent });
    this.sending.schedule();
  }

  /** This server ends: the others must not use its agents, which may still be connected, for new visitors. */
  withdraw(): void {
    this.withdrawn = true;
    for (const session of this.context.sessions.current()) this.agentLeft(session);
  }

  /** Passes on what an agent of this server reports about a channel of another server. False: it is not lent. */
  passRefusal(clientId: number, message: RefusedMessage): boolean {
    const borrower = this.context.lent.borrowerOf(message.channel);
    if (!borrower) return false;
    const { kind, id, channel, reason } = message;
    this.peers.get(borrower.id)?.link?.sendRefusal({ clientId, refusal: { kind, id, channel, reason } });
    return true;
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const timer of this.timers) clearInterval(timer);
    this.context.limits.onChange = null;
    for (const [id, peer] of this.peers) this.forget(id, peer);
    for (const link of this.links) link.close();
    await this.server.close();
  }

  private add(address: PeerAddress): void {
    const backoff = new Backoff(Math.random, DIAL_AGAIN);
    const tag = serverTag(address.id).toString('hex');
    const peer: Peer = {
      address,
      tag,
      link: null,
      dialing: false,
      unknownSince: this.context.now(),
      timer: null,
      backoff,
    };
    this.peers.set(address.id, peer);
    const waiting = [...this.links].find((link) => link.id === address.id);
    if (waiting) this.use(peer, waiting);
    else this.dial(peer);
  }

  private forget(id: string, peer: Peer): void {
    this.peers.delete(id);
    if (peer.timer) clearTimeout(peer.timer);
    this.tellUnknown();
  }

  private dial(peer: Peer): void {
    peer.timer = null;
    const { id, keys } = this.context.options;
    const [key] = keys;
    if (this.closed || !key || peer.link || peer.dialing || peer.address.id < id) return;
    peer.dialing = true;
    dialControl({ endpoint: peer.address.mesh, key, limits: LINK_LIMITS }).then(
      (link) => {
        peer.dialing = false;
        if (this.closed || this.peers.get(peer.address.id) !== peer) link.close();
        else this.open(link);
      },
      (error: unknown) => {
        peer.dialing = false;
        this.context.logger.debug('another server is not reached', { server: peer.address.id, error: String(error) });
        this.dialLater(peer);
      },
    );
  }

  private dialLater(peer: Peer): void {
    if (this.closed || this.peers.get(peer.address.id) !== peer) return;
    peer.timer ??= setFlowTimeout(null, () => this.dial(peer), peer.backoff.next(DIAL_AGAIN.firstMs / 2));
    peer.timer.unref();
  }

  private accept(link: ControlLink): void {
    if (this.closed) return link.close();
    this.open(link);
  }

  private open(control: ControlLink): void {
    const { options, worker } = this.context;
    this.links.add(new PeerLink(control, { id: options.id, worker }, this.handlers));
  }

  private greeted(link: PeerLink): boolean {
    const peer = this.peers.get(link.id);
    if (peer) return this.use(peer, link);
    // The list that names it is on its way.
    const timer = setFlowTimeout(null, () => this.peers.has(link.id) || link.close(), UNLISTED_MS);
    timer.unref();
    return true;
  }

  private use(peer: Peer, link: PeerLink): true {
    const before = peer.link;
    peer.link = link;
    // The other server has lost the link before.
    if (before !== link) before?.close();
    peer.backoff.reset();
    const sessions = this.context.sessions.current();
    const agents = this.withdrawn ? [] : sessions.filter(({ withheld }) => !withheld);
    const came = agents.map((session) => remoteAgentOf(session));
    link.sendAgents({ came, left: [] });
    link.sendKnown();
    peer.unknownSince = link.isKnown ? null : (peer.unknownSince ?? this.context.now());
    this.tellUnknown();
    link.sendUses(this.context.limits.all());
    this.context.limits.onChange = () => this.sending.schedule();
    return true;
  }

  private linkClosed(link: PeerLink): void {
    this.links.delete(link);
    this.context.limits.left(link);
    // If no other server is left, nothing else releases what that one used.
    this.context.limits.turn();
    const peer = this.peers.get(link.id);
    if (peer?.link === link) {
      peer.link = null;
      peer.unknownSince ??= this.context.now();
      // Whoever waits for an agent of that server learns that it may come back.
      this.tellUnknown();
      this.dialLater(peer);
    }
    const left = this.context.sessions.remote.serverLeft(link);
    this.context.changed(left, left, []);
  }

  private nowKnown(link: PeerLink): void {
    const peer = this.peers.get(link.id);
    if (peer?.link !== link) return;
    peer.unknownSince = null;
    this.tellUnknown();
  }

  private unknownUntil(): number {
    const { othersMs } = this.context;
    const since = [...this.peers.values()].map(({ unknownSince }) => unknownSince);
    if (!this.listed) since.push(this.unlistedSince);
    return Math.max(0, ...since.map((moment) => (moment === null ? 0 : moment + othersMs)));
  }

  private tellUnknown(): void {
    this.context.sessions.awaitOthers(this.closed ? 0 : this.unknownUntil());
  }

  private agentsChanged(link: PeerLink, { came, left }: PeerAgents): void {
    const { sessions } = this.context;
    for (const agent of left) if (sessions.remote.left(link, agent)) link.agents -= 1;
    for (const agent of came) {
      if (sessions.remote.came(link, agent)) link.agents += 1;
      sessions.cameElsewhere(agent);
    }
    const ofClients = (agents: readonly { clientId: number }[]): number[] => [
      ...new Set(agents.map(({ clientId }) => clientId)),
    ];
    const silent = left.filter((agent) => agent.silent);
    this.context.changed(ofClients([...came, ...left]), ofClients(left), ofClients(silent));
  }

  private lend(link: PeerLink, { clientId, key, tickets }: PeerTickets): void {
    const { lent } = this.context;
    const agents = this.peers.get(link.id)?.address.agents;
    const session = this.agentOf(clientId, key);
    // Without them the other server's visitor waits for another agent, or gives up.
    if (!agents || !session) return;
    lent.expect(tickets, { id: link.id, worker: link.worker, agents });
    session.deliver(tickets);
  }

  private agentOf(clientId: number, key: number): ServerSession | undefined {
    return this.context.sessions.current(clientId).find(({ order }) => order === key);
  }

  private sendChanges(): void {
    const change = { came: this.came, left: this.left };
    this.came = [];
    this.left = [];
    const uses = this.context.limits.changes();
    for (const { link } of this.peers.values()) {
      link?.sendAgents(change);
      link?.sendUses(uses);
    }
  }
}

function remoteAgentOf({ order, identity, since }: ServerSession): RemoteAgent {
  const { client, agentId, slot, epoch, replica, longRecords } = identity;
  return { key: order, clientId: client.id, agentId, slot, epoch, replica, sealed: client.encrypt, longRecords, since };
}
