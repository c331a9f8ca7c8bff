/** Messages of a control connection; docs/tunnel-protocol.md describes them. */

import type { ResourceKind } from '../resource.js';
import type { Endpoint } from '../base/endpoint.js';

export const PROTOCOL_VERSION = 1;

/** First frame of an agent. */
export interface AuthMessage {
  type: 'auth';
  /** Versions of the protocol that the agent supports. */
  versions: number[];
  /** The secret of the key string. */
  secret: string;
  /** Unique for each run of the agent's process. */
  agentId: string;
  /** Increases with every connection of this run. */
  epoch: number;
  /** Name and version of the program, for people. */
  software: string;
  /** Number of this connection among those that the run keeps, to different servers of a gateway. Absent: 0. */
  slot?: number;
  /** Whether other agents may serve the client beside this one. Absent: the newest agent alone serves it. */
  replica?: boolean;
  /** Whether the agent takes sealed records of `MAX_RECORD_BYTES`. Absent: of `COMMON_RECORD_BYTES`. */
  longRecords?: boolean;
}

export const DIAL_FAILURES = [
  'refused',
  'timeout',
  'unreachable',
  'name',
  'forbidden',
  'unknown_tunnel',
  'other',
] as const;
export type DialFailure = (typeof DIAL_FAILURES)[number];

/** The agent could not reach a target; it also resets the channel. */
export interface RefusedMessage {
  type: 'refused';
  kind: ResourceKind;
  /** Id of the tunnel or host. */
  id: number;
  /** Id of the channel, hex. */
  channel: string;
  reason: DialFailure;
}

/** The agent is shutting down: it takes no new channels. */
export interface LeavingMessage {
  type: 'leaving';
}

export interface WelcomeMessage {
  type: 'welcome';
  version: number;
  clientId: number;
  /** Interval of the server's pings; after three of them without a message either side ends the connection. */
  heartbeatMs: number;
  /** Whether data channels are encrypted. */
  encrypt: boolean;
  /** Port for UDP packets. Absent: the port that the agent connected to. */
  packetPort?: number;
  /** Fingerprint of the key that will replace the server's current one. Absent: no replacement is planned. */
  nextFingerprint?: string;
}

export const CLOSE_CODES = [
  'unauthorized',
  'disabled',
  'kicked',
  'version',
  'replaced',
  'draining',
  'overloaded',
  'protocol',
  'stopped',
] as const;
export type CloseCode = (typeof CLOSE_CODES)[number];

/** Last message of the server. */
export interface CloseMessage {
  type: 'close';
  code: CloseCode;
  /** For people. */
  message: string;
  /** Earliest time for the next connection. Null: the agent decides. */
  retryAfterMs: number | null;
}

export interface TargetAddress {
  /** Host name or address, without brackets. */
  host: string;
  port: number;
  weight: number;
}

/** A directory of the agent's machine; the agent also checks whether it may be served. */
export interface FileRoot {
  /** Absolute path. */
  path: string;
  readOnly: boolean;
  /** Prefix of request paths that is removed before the path is looked up in the directory; empty or `/a/b`. */
  stripPrefix: string;
}

/** Public ports of a tunnel, each of which leads to a port of its own at a target. */
export interface MappedPorts {
  /** Leads to the port in `targets`; the next one to the following port. */
  first: number;
  count: number;
}

/** What an agent needs to know about a tunnel. */
export interface AgentTunnel {
  id: number;
  /** An unknown mode is one that the agent refuses to carry, not an error. */
  mode: string;
  /** Where visitors connect, for people; empty without a port. */
  entrance: string;
  targets: TargetAddress[];
  /** Version of the PROXY protocol header that targets get; 0: none. */
  proxyProtocol: number;
  /** Proxy modes: what visitors may reach; empty: everything the agent allows. */
  destinations: string[];
  /** Only in mode `file`. */
  file: FileRoot | null;
  /** Only in modes `tcp_range` and `udp_range`. */
  ports?: MappedPorts;
}

/** What an agent needs to know about a host: with each channel the server names the target by its index. */
export interface AgentHost {
  id: number;
  /** Domain and location, for people. */
  name: string;
  targets: TargetAddress[];
}

/** All tunnels and hosts of the client, replacing the previous ones. */
export interface ConfigMessage {
  type: 'config';
  revision: number;
  tunnels: AgentTunnel[];
  hosts: AgentHost[];
}

/** The right to open one data channel, once. */
export interface ChannelTicket {
  /** 16 bytes, sent unencrypted by the channel. */
  id: Buffer;
  /** 32 bytes, never sent by the channel: proves the opening and binds the tunnel. */
  key: Buffer;
}

/** Asks the agent to open a data channel for each ticket. */
export interface ChannelsMessage {
  type: 'channels';
  tickets: ChannelTicket[];
}

/** Asks the agent to reconnect within `spreadMs`, and to close this connection when the new one is up. */
export interface MoveMessage {
  type: 'move';
  spreadMs: number;
}

/** A visitor's program wants a direct path to this agent. May be ignored. */
export interface RendezvousMessage {
  type: 'rendezvous';
  /** Hex, 16 bytes. */
  id: string;
  tunnelId: number;
  /** As the server sees it. */
  visitor: Endpoint;
  /** Known to the visitor as well; base64url, 32 bytes. */
  token: string;
}

/** The path accepts no more connections, and ends within `graceMs`. */
export interface RendezvousEndMessage {
  type: 'rendezvousEnd';
  id: string;
  graceMs: number;
}

/** An edge of the gateway: a server that any agent may connect to. */
export interface EdgeAddress {
  /** Of the edge, whichever of its processes serves. */
  id: string;
  /** Name or address, without brackets. */
  host: string;
  port: number;
}

/** The edges of the gateway, so that an agent can keep connections to several. May be ignored. */
export interface EdgesMessage {
  type: 'edges';
  /** Id of the edge that sends this. */
  own: string;
  edges: EdgeAddress[];
}

export const PATH_STATES = ['refused', 'open', 'over'] as const;

/** State of a direct path; after a reconnect, `open` is sent again to the new server. */
export interface PathStateMessage {
  type: 'pathState';
  id: string;
  state: (typeof PATH_STATES)[number];
}

/** What a direct path carried since the agent's last report. */
export interface CarriedMessage {
  type: 'carried';
  id: string;
  upload: number;
  download: number;
  connections: number;
}

export interface PingMessage {
  type: 'ping' | 'pong';
  sequence: number;
}

export type AgentMessage =
  AuthMessage | RefusedMessage | LeavingMessage | PathStateMessage | CarriedMessage | PingMessage;
export type ServerMessage =
  | WelcomeMessage
  | CloseMessage
  | ConfigMessage
  | ChannelsMessage
  | MoveMessage
  | RendezvousMessage
  | RendezvousEndMessage
  | EdgesMessage
  | PingMessage;
export type Message = AgentMessage | ServerMessage;
