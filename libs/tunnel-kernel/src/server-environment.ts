import type { ListeningSockets } from '@gatehouse/net';
import type { AsnLookup, CountryLookup, ListLookup } from './access/ip-rules.js';
import type { DeniedVisitors } from './access/refusal-sampler.js';
import type { VisitorVerifier } from './access/visitor-verifier.js';
import type { ClientStore, TunnelLogger } from './environment.js';
import type { TunnelError } from './errors.js';
import type { FlowRecord } from './flow-ledger.js';
import type { ResourceRef } from './resource.js';
import type { FailedVisitors, VerificationOptions } from './verification/verification-options.js';
import { DEFAULT_UDP_LIMITS, type UdpLimits } from './modes/udp-mode.js';
import type { PoolLimits } from './session/channel-pool.js';
import type { TargetChange } from './vhost/health-checks.js';
import type { HttpOptions } from './vhost/http-gateway.js';
import type { DialFailure } from './wire/messages.js';
import type { FormerIdentity, ServerIdentity } from './wire/server-identity.js';
import type { Endpoint } from './base/endpoint.js';
import type { PeerOptions } from './peers/peer-options.js';

/** All in milliseconds. */
export interface ServerTimeouts {
  /** From accepting an agent's connection until it has authenticated. */
  handshake: number;
  /** How long the agent of a disabled client waits on one connection: less than agents wait for an answer (10 s). */
  park: number;
  /** How long a visitor waits for a data channel. */
  open: number;
  /** How long it waits for one agent where there is another one. */
  other: number;
  heartbeat: number;
  /** How long an agent may take to use a ticket. */
  ticket: number;
  /** How long connections outlive an agent that fell silent and did not reconnect. */
  silentGrace: number;
  /** How long after `listen` visitors wait for an agent that has not connected yet. */
  arrival: number;
  /**
   * How long visitors of a client without a known agent wait for the lists of other servers that are not linked: since
   * the start, or since the link was lost.
   */
  others: number;
  /**
   * Age at which an agent is asked to reconnect. This limits how long the keys of its control connection, and those
   * sent over it, are used.
   */
  renew: number;
  /** How long a trusted proxy may take to name its visitor. */
  proxyHeader: number;
}

export const DEFAULT_TIMEOUTS: ServerTimeouts = {
  handshake: 10_000,
  park: 7_000,
  open: 10_000,
  other: 1_500,
  heartbeat: 10_000,
  ticket: 15_000,
  silentGrace: 30_000,
  arrival: 0,
  others: 10_000,
  renew: 3_600_000,
  proxyHeader: 5_000,
};

/** Limits of mode `udp`, and of all datagram sessions together. */
export interface ServerDatagramLimits extends UdpLimits {
  sessions: number;
  /**
   * An agent with a round trip below this, in milliseconds, is near. Its datagrams go over data channels, which cost a
   * third of packets and replace what is lost within a few milliseconds. 0: no agent counts as near.
   */
  nearMs: number;
  /**
   * Packets that are sealed with one key before the agent is asked to reconnect. Absent: as many as the cipher allows.
   */
  packetsPerKey?: number;
}

export const DEFAULT_SERVER_DATAGRAM_LIMITS: ServerDatagramLimits = {
  ...DEFAULT_UDP_LIMITS,
  sessions: 65_536,
  nearMs: 3,
};

export interface ServerEvents {
  flowClosed?(record: FlowRecord): void;
  /** Not called when a connected agent moves to another connection. */
  agentOnline?(agent: AgentState): void;
  /** Another agent took over a client, from an address other than that of the agent before it. */
  agentReplaced?(change: AgentReplaced): void;
  agentOffline?(clientId: number, reason: TunnelError): void;
  /** Agents of these clients have connected to other servers, or have left them. */
  agentsElsewhere?(clientIds: readonly number[]): void;
  /** Health checks found a target down, or up again; also after the first check of a process. */
  targetChanged?(change: TargetChange): void;
  /** A visitor was reset because the agent could not reach a target. */
  targetFailed?(resource: ResourceRef, reason: DialFailure): void;
  /** Visitors were refused (sampled). */
  denied?(visitors: DeniedVisitors): void;
  /** Visitors failed to authenticate (sampled). */
  visitorFailed?(visitors: FailedVisitors): void;
  /** A client expired while the server was running. */
  expired?(clientId: number): void;
}

/** Everything the server gets from outside. */
export interface TunnelServerEnvironment {
  /** Milliseconds since the epoch. */
  now: () => number;
  logger: TunnelLogger;
  clients: ClientStore;
  identity: ServerIdentity;
  /**
   * Fingerprint of the key that will replace the identity: agents are sent it, and store it. Absent: no replacement is
   * planned.
   */
  nextFingerprint?: string;
  /** The key before the identity, for agents that know no other. The welcome gives them the new one. */
  formerIdentity?: FormerIdentity;
  /** Absent: `verification` decides; without that, too, a resource with policies admits nobody. */
  verifier?: VisitorVerifier;
  verification?: VerificationOptions;
  /** Absent: country rules cannot be resolved. */
  countryOf?: CountryLookup;
  /** Absent: rules about autonomous systems cannot be resolved. */
  asnOf?: AsnLookup;
  /** Absent: rules about lists of addresses cannot be resolved. */
  inList?: ListLookup;
  /** Whether rules that deny countries, autonomous systems or lists deny everybody while those cannot be resolved. */
  geoStrict?: boolean;
  /** Addresses and prefixes whose PROXY protocol headers and `X-Forwarded-*` fields are believed. */
  trustedProxies?: readonly string[];
  /** Virtual hosts: see `TunnelServer.listenHttp`. */
  http?: HttpOptions;
  events?: ServerEvents;
  timeouts?: Partial<ServerTimeouts>;
  pool?: Partial<PoolLimits>;
  datagrams?: Partial<ServerDatagramLimits>;
  /**
   * Index of this process among several workers: connections are passed to it (`TunnelServer.serve`). Absent: the only
   * one.
   */
  worker?: number;
  /**
   * Whether this process serves the agent or visitor program with this `tag`: see `route-tag.ts`. Absent: it serves
   * all.
   */
  serves?: (tag: string) => boolean;
  /** Upper bound for connections to the port for agents that have not said yet what they are. Absent: 4096. */
  maxUnidentified?: number;
  /** Listening sockets that another process passed on. Absent: there are none. */
  sockets?: ListeningSockets;
  /** The other servers of the gateway: see `PeerServers`. Absent: there are none. */
  peers?: PeerOptions;
  /** Whether visitors and agents of mode `p2p` are put in contact. Absent: yes. */
  p2p?: boolean;
}

/** Anyone with a client's key can take over its visitors, so the owner should learn of it. */
export interface AgentReplaced {
  clientId: number;
  address: string;
  software: string;
  /** The agent that was replaced. */
  before: { address: string; software: string };
}

/** A connected agent. */
export interface AgentState {
  clientId: number;
  agentId: string;
  software: string;
  address: string;
  /** Whether its connections are TCP connections, or streams of a WebSocket. */
  via: 'tcp' | 'websocket';
  /** Milliseconds since the epoch. */
  connectedAt: number;
  /** Measured by the last heartbeat; null before the first. */
  roundTripMs: number | null;
  idleChannels: number;
  /** Whether UDP packets get through. If so, datagrams use them, unless the agent is near. */
  packets: boolean;
}

/** A visitor's connection. */
export interface ConnectionState {
  resource: ResourceRef;
  visitor: Endpoint;
  /** Milliseconds since the epoch. */
  startedAt: number;
  /** Bytes from the visitor. */
  upload: number;
  /** Bytes to the visitor. */
  download: number;
}
