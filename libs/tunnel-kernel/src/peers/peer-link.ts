import { ChannelError, ChannelPeer, type ControlLink } from '@gatehouse/net';
import { TunnelError } from '../errors.js';
import type { ClientUse } from '../limits/shared-limits.js';
import type { RemoteAgent, RemoteServer } from '../session/remote-agents.js';
import type { ChannelTicket } from '../wire/messages.js';
import {
  agentsInParts,
  KNOWN_VERSION,
  PEER_VERSION,
  readAgentKey,
  readAgents,
  readHello,
  readRefusal,
  readTickets,
  readUses,
  usesInParts,
  writeTickets,
  type PeerAgentKey,
  type PeerAgents,
  type PeerHello,
  type PeerRefusal,
  type PeerTickets,
} from './peer-messages.js';

export interface PeerLinkHandlers {
  /** The first message. False: the link is not wanted, and ends. */
  greeted(link: PeerLink): boolean;
  agents(link: PeerLink, change: PeerAgents): void;
  /** The other server has sent all of its agents. */
  known(link: PeerLink): void;
  tickets(link: PeerLink, tickets: PeerTickets): void;
  /** Visitors of the other server use an agent of this one. */
  visited(agent: PeerAgentKey): void;
  refused(refusal: PeerRefusal): void;
  uses(link: PeerLink, uses: ClientUse[]): void;
  answer(method: string, params: unknown): Promise<unknown>;
  /** Called once. */
  closed(link: PeerLink): void;
}

/** A link to another server of the gateway. Both ends are equal. */
export class PeerLink implements RemoteServer {
  private readonly channel: ChannelPeer;
  private readonly handlers: PeerLinkHandlers;
  private hello: PeerHello | null = null;
  private sentAll = false;
  private ended = false;
  /** Number of the other server's agents. */
  agents = 0;

  constructor(link: ControlLink, own: Omit<PeerHello, 'version'>, handlers: PeerLinkHandlers) {
    this.handlers = handlers;
    this.channel = new ChannelPeer(link, {
      perform: (method, params) => this.perform(method, params),
      noted: (name, value) => this.noted(name, value),
      closed: () => this.closed(),
    });
    this.channel.note('hello', { version: PEER_VERSION, ...own });
  }

  /** Id of the other server's process; empty before its hello. */
  get id(): string {
    return this.hello?.id ?? '';
  }

  get worker(): number | null {
    return this.hello?.worker ?? null;
  }

  /** Whether the other server has sent all of its agents, as far as it says so. */
  get isKnown(): boolean {
    return this.sentAll || (this.hello?.version ?? 0) < KNOWN_VERSION;
  }

  lend({ clientId, key }: RemoteAgent, tickets: ChannelTicket[]): void {
    this.channel.note('tickets', writeTickets({ clientId, key, tickets }));
  }

  visited({ clientId, key }: RemoteAgent): void {
    this.channel.note('visited', { clientId, key });
  }

  sendAgents(change: PeerAgents): void {
    for (const part of agentsInParts(change)) this.channel.note('agents', part);
  }

  /** All agents were sent. */
  sendKnown(): void {
    this.channel.note('known', {});
  }

  sendUses(changes: readonly ClientUse[]): void {
    for (const uses of usesInParts(changes)) this.channel.note('uses', { uses });
  }

  sendRefusal({ clientId, refusal }: PeerRefusal): void {
    this.channel.note('refused', { clientId, ...refusal });
  }

  /** @throws ChannelError */
  ask(method: string, params: unknown, timeoutMs: number): Promise<unknown> {
    return this.channel.request(method, params, timeoutMs);
  }

  close(): void {
    this.channel.close();
  }

  private perform(method: string, params: unknown): Promise<unknown> {
    if (!this.hello) return Promise.reject(new ChannelError('unavailable', 'no hello yet'));
    return this.handlers.answer(method, params);
  }

  /** A message that cannot be read ends the link: the other server makes a new one. */
  private noted(name: string, value: unknown): void {
    try {
      this.read(name, value);
    } catch (error) {
      if (!(error instanceof TunnelError)) throw error;
      this.close();
    }
  }

  private read(name: string, value: unknown): void {
    if (this.ended) return;
    if (name === 'hello') return this.greet(readHello(value));
    if (!this.hello) throw new TunnelError('protocol', `${name} before the hello`);
    if (name === 'agents') this.handlers.agents(this, readAgents(value));
    else if (name === 'known') this.known();
    else if (name === 'visited') this.handlers.visited(readAgentKey(value));
    else if (name === 'tickets') this.handlers.tickets(this, readTickets(value));
    else if (name === 'uses') this.handlers.uses(this, readUses(value));
    else if (name === 'refused') this.handlers.refused(readRefusal(value));
    // A newer server may send more.
  }

  private known(): void {
    this.sentAll = true;
    this.handlers.known(this);
  }

  private greet(hello: PeerHello): void {
    if (this.hello) throw new TunnelError('protocol', 'a second hello');
    this.hello = hello;
    if (!this.handlers.greeted(this)) this.close();
  }

  private closed(): void {
    if (this.ended) return;
    this.ended = true;
    this.handlers.closed(this);
  }
}
