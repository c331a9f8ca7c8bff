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

/** What the server looks up about a client when its agent shows a key. */
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
  /** Null for a hash that belongs to no client. On failure the agent tries again. */
  findByKeyHash(keyHash: string): Promise<ClientRecord | null>;
}

/**
 * Outgoing connections of the agent's machine. Both methods may throw any error; the `code` of system errors is used.
 */
export interface AgentDialer {
  /** Opens a TCP connection to the server. */
  server(address: HostAndPort, timeoutMs: number): Promise<Socket>;
  /**
   * Opens a connection to a target: paused, allowHalfOpen. `permits` is called with the addresses that the name
   * resolves to, so that a name cannot change between the check and the connection. Fails with EACCES when it permits
   * none of them.
   */
  target(address: HostAndPort, timeoutMs: number, permits: (address: string) => boolean): Promise<ByteStream>;
}
