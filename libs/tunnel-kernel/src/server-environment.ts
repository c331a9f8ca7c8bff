import type { ListeningSockets } from '@gatehouse/net';
import type { CountryLookup } from './access/ip-rules.js';
import type { DeniedVisitors } from './access/refusal-sampler.js';
import type { VisitorVerifier } from './access/visitor-verifier.js';
import type { ClientStore, TunnelLogger } from './environment.js';
import type { TunnelError } from './errors.js';
import type { FlowRecord } from './flow-ledger.js';
import type { ResourceRef } from './resource.js';
import type { FailedVisitors, VerificationOptions } from './verification/verification-options.js';
import { DEFAULT_UDP_LIMITS, type UdpLimits } from './modes/udp-mode.js';
import type { PoolLimits } from './session/channel-pool.js';
import type { HttpOptions } from './vhost/http-gateway.js';
import type { DialFailure } from './wire/messages.js';
import type { FormerIdentity, ServerIdentity } from './wire/server-identity.js';
import type { Endpoint } from './base/endpoint.js';

/** All in milliseconds. */
export interface ServerTimeouts {
  /** From accept of an agent's connection until it is known whose it is. */
  handshake: number;
  /** How long the agent of a disabled client waits on one connection: less than agents wait for an answer (10 s). */
  park: number;
  /** How long a visitor waits for a data channel. */
  open: number;
  heartbeat: number;
  /** How long an agent may take to use a ticket. */
  ticket: number;
  /** How long connections outlive an agent that fell silent and did not come back. */
  silentGrace: number;
  /** How long after `listen` visitors wait for an agent that was not here yet. */
  arrival: number;
  /** After so long an agent is told to connect again: keys of its control connection, and those that came over it, end then. */
  renew: number;
  /** How long a trusted proxy may take to say who its visitor is. */
  proxyHeader: number;
}

export const DEFAULT_TIMEOUTS: ServerTimeouts = {
  handshake: 10_000,
  park: 7_000,
  open: 10_000,
  heartbeat: 10_000,
  ticket: 15_000,
  silentGrace: 30_000,
  arrival: 0,
  renew: 3_600_000,
  proxyHeader: 5_000,
};

/** Of mode `udp`, and of all sessions of datagrams together. */
export interface ServerDatagramLimits extends UdpLimits {
  sessions: number;
  /**
   * An agent whose answers take less, milliseconds, is near: its datagrams go over data channels, which cost a third of
   * packets, and what is lost is there again after a few milliseconds. 0: none is.
   */
  nearMs: number;
  /** Packets that are sealed with one key before the agent is told to connect again. Absent: as many as the cipher allows. */
  packetsPerKey?: number;
}

export const DEFAULT_SERVER_DATAGRAM_LIMITS: ServerDatagramLimits = {
  ...DEFAULT_UDP_LIMITS,
  sessions: 65_536,
  nearMs: 3,
};

export interface ServerEvents {
  flowClosed?(record: FlowRecord): void;
  /** Not when an agent that is online moves to another connection. */
  agentOnline?(agent: AgentState): void;
  /** Another agent took a client over, from an address that its agent did not come from. */
  agentReplaced?(change: AgentReplaced): void;
  agentOffline?(clientId: number, reason: TunnelError): void;
  /** A visitor was reset because the agent could not reach a target. */
  targetFailed?(resource: ResourceRef, reason: DialFailure): void;
  /** Visitors were refused: sampled. */
  denied?(visitors: DeniedVisitors): void;
  /** Visitors did not prove who they are: sampled. */
  visitorFailed?(visitors: FailedVisitors): void;
  /** A client's time came while the server ran. */
  expired?(clientId: number): void;
}

/** Everything the server takes from outside. */
export interface TunnelServerEnvironment {
  /** Milliseconds since the epoch. */
  now: () => number;
  logger: TunnelLogger;
  clients: ClientStore;
  identity: ServerIdentity;
  /** Fingerprint of the key that is to take the identity's place: agents are told, and keep it. Absent: there is none. */
  nextFingerprint?: string;
  /** The key before the identity, for agents that know no other. They learn the identity's from the welcome. */
  formerIdentity?: FormerIdentity;
  /** Absent: by `verification`; without that, too, a resource with policies lets nobody in. */
  verifier?: VisitorVerifier;
  verification?: VerificationOptions;
  /** Absent: rules of countries cannot be resolved. */
  countryOf?: CountryLookup;
  /** Rules that deny countries deny everybody while they cannot be resolved. */
  geoStrict?: boolean;
  /** Addresses and prefixes whose PROXY protocol headers and `X-Forwarded-*` fields are believed. */
  trustedProxies?: readonly string[];
  /** Virtual hosts: see `TunnelServer.listenHttp`. */
  http?: HttpOptions;
  events?: ServerEvents;
  timeouts?: Partial<ServerTimeouts>;
  pool?: Partial<PoolLimits>;
  datagrams?: Partial<ServerDatagramLimits>;
  /** Which of several processes this is, from 0 on: it is handed its connections (`TunnelServer.serve`). Absent: the only one. */
  worker?: number;
  /**
   * Whether this process is the one for an agent or a visitor's program that says `tag` openly: see `route-tag.ts`. Absent: it
   * is for all.
   */
  serves?: (tag: string) => boolean;
  /** Connections to the port for agents that have not said yet what they are, at most. Absent: 4096. */
  maxUnidentified?: number;
  /** Ports that another process hands on are in here. Absent: there are none. */
  sockets?: ListeningSockets;
  /** Whether visitors and agents of mode `p2p` are brought together. Absent: they are. */
  p2p?: boolean;
}

/** Whoever has a client's key can take its visitors over: its owner should know of it. */
export interface AgentReplaced {
  clientId: number;
  address: string;
  software: string;
  /** Of the agent that was replaced. */
  before: { address: string; software: string };
}

/** An agent that is connected. */
export interface AgentState {
  clientId: number;
  agentId: string;
  software: string;
  address: string;
  /** Whether its connections are TCP connections, or streams of a WebSocket. */
  via: 'tcp' | 'websocket';
  /** Milliseconds since the epoch. */
  connectedAt: number;
  /** Of the last heartbeat; null before the first. */
  roundTripMs: number | null;
  idleChannels: number;
  /** Whether UDP packets get through: then datagrams take them, unless the agent is near. */
  packets: boolean;
}

/** A visitor who is connected. */
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
