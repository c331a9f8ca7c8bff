/** What is said on a control connection; docs/tunnel-protocol.md is the long form. */

import type { ResourceKind } from '../resource.js';
import type { Endpoint } from '../base/endpoint.js';

export const PROTOCOL_VERSION = 1;

/** First frame of an agent. */
export interface AuthMessage {
  type: 'auth';
  /** Versions of the protocol that the agent speaks. */
  versions: number[];
  /** The secret of the key string. */
  secret: string;
  /** One for each run of the agent's process. */
  agentId: string;
  /** Grows with every connection that this run of the agent makes. */
  epoch: number;
  /** Name and version of the program, for people. */
  software: string;
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

/** The agent did not reach a target; it resets the channel as well. */
export interface RefusedMessage {
  type: 'refused';
  kind: ResourceKind;
  /** Of the tunnel or host. */
  id: number;
  /** Id of the channel, hex. */
  channel: string;
  reason: DialFailure;
}

/** The agent is on its way out: no new channels. */
export interface LeavingMessage {
  type: 'leaving';
}

export interface WelcomeMessage {
  type: 'welcome';
  version: number;
  clientId: number;
  /** The server pings this often; after three of them without a word either side gives the other up. */
  heartbeatMs: number;
  /** Whether data channels are encrypted. */
  encrypt: boolean;
  /** Where UDP packets go. Absent: to the port that the agent connected to. */
  packetPort?: number;
  /** Fingerprint of the key that the server will have instead of this one. Absent: it keeps this one. */
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

/** Last word of the server. */
export interface CloseMessage {
  type: 'close';
  code: CloseCode;
  /** For people. */
  message: string;
  /** Not before this. Null: as the agent likes. */
  retryAfterMs: number | null;
}

export interface TargetAddress {
  /** Host name or address, without brackets. */
  host: string;
  port: number;
  weight: number;
}

/** A directory of the agent's machine; the agent has its own say on which. */
export interface FileRoot {
  /** Absolute path. */
  path: string;
  readOnly: boolean;
  /** Beginning of request paths that is not part of the path below the directory; empty or `/a/b`. */
  stripPrefix: string;
}

/** What the agent must know of a tunnel. */
export interface AgentTunnel {
  id: number;
  /** A mode that the agent does not know is one it refuses to carry, not an error. */
  mode: string;
  /** Where visitors come in, for people; empty where there is no port. */
  entrance: string;
  targets: TargetAddress[];
  /** Version of the PROXY protocol header that targets get; 0: none. */
  proxyProtocol: number;
  /** Proxy modes: what visitors may reach; empty: all that the agent allows. */
  destinations: string[];
  /** Mode `file`. */
  file: FileRoot | null;
}

/** What the agent must know of a host: the server says with each channel which of its targets is meant. */
export interface AgentHost {
  id: number;
  /** Domain and location, for people. */
  name: string;
  targets: TargetAddress[];
}

/** All tunnels and hosts of the client, in place of those before. */
export interface ConfigMessage {
  type: 'config';
  revision: number;
  tunnels: AgentTunnel[];
  hosts: AgentHost[];
}

/** The right to open one data channel, once. */
export interface ChannelTicket {
  /** 16 bytes, said openly by the channel. */
  id: Buffer;
  /** 32 bytes, never said by the channel: proves the opening and binds the tunnel. */
  key: Buffer;
}

/** The agent is to open a data channel with each. */
export interface ChannelsMessage {
  type: 'channels';
  tickets: ChannelTicket[];
}

/** The agent is to connect again within `spreadMs`, and to let this connection go when the new one stands. */
export interface MoveMessage {
  type: 'move';
  spreadMs: number;
}

/** A visitor's program asks for a direct path to this agent. May be ignored. */
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

/** The path takes no more connections, and ends within `graceMs`. */
export interface RendezvousEndMessage {
  type: 'rendezvousEnd';
  id: string;
  graceMs: number;
}

export const PATH_STATES = ['refused', 'open', 'over'] as const;

/** What became of a direct path; `open` is said again to a server that the agent connected to anew. */
export interface PathStateMessage {
  type: 'pathState';
  id: string;
  state: (typeof PATH_STATES)[number];
}

/** What a direct path carried since the agent last said so. */
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
  | PingMessage;
export type Message = AgentMessage | ServerMessage;
