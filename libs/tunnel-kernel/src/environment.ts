import type { ByteStream } from '@gatehouse/net';
import type { Socket } from 'node:net';

export interface TunnelLogger {
  debug(message: string, fields?: Record<string, unknown>): void;
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

export interface HostAndPort {
  /** Name or address, without brackets. */
  host: string;
  port: number;
}

/** What the server knows of a client when its agent shows a key. */
export interface ClientRecord {
  id: number;
  /** `agentKeyHash` of the client's secret. */
  keyHash: string;
  /** False: disabled or expired. */
  enabled: boolean;
  /** Whether the data channels of this client are sealed. */
  encrypt: boolean;
}

export interface ClientStore {
  /** Null for a hash that belongs to nobody. A failure is the agent's to retry. */
  findByKeyHash(keyHash: string): Promise<ClientRecord | null>;
}

/** Ways out of the agent's machine. Both raise any error; `code` of a system error is looked at. */
export interface AgentDialer {
  /** A TCP connection to the server. */
  server(address: HostAndPort, timeoutMs: number): Promise<Socket>;
  /**
   * A connection to a target: paused, allowHalfOpen. `permits` is asked about the addresses that the name leads to, so
   * that a name cannot lead anywhere else between a check and the dialling; without one that it permits: EACCES.
   */
  target(address: HostAndPort, timeoutMs: number, permits: (address: string) => boolean): Promise<ByteStream>;
}
