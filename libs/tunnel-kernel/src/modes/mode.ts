import type { ListeningSockets } from '@gatehouse/net';
import type { VisitorVerifier } from '../access/visitor-verifier.js';
import type { TunnelConfig } from '../config.js';
import type { DatagramSessions } from '../datagrams/datagram-sessions.js';
import type { TunnelLogger } from '../environment.js';
import type { FlowLedger } from '../flow-ledger.js';
import type { ChannelSource } from '../session/channel-source.js';
import type { Admission } from './admission.js';

/** Shared by the server's side of all modes. */
export interface ModeContext {
  /** Milliseconds since the epoch. */
  now: () => number;
  logger: TunnelLogger;
  ledger: FlowLedger;
  /**
   * Admits visitors of all modes and of hosts: `receive` for a socket of a tunnel's port, `admit` for a UDP session or
   * a request. A refused visitor gets an answer in its protocol (by `GateRefusal`) or a reset. An admitted visitor must
   * be released when it has left, and its bytes go through `throttle()`.
   */
  admission: Admission;
  verifier: VisitorVerifier;
  channels: ChannelSource;
  /** Datagrams through agents: `open` a session for each visitor of a UDP port, or for each UDP association. */
  datagrams: DatagramSessions;
  /** The listening sockets of this server. */
  sockets: ListeningSockets;
}

/** A public port of one tunnel. */
export interface Entrance {
  /** The bound port; 0 while there is none. */
  readonly port: number;
  /** @throws Error of `listen` (EADDRINUSE, EACCES, EADDRNOTAVAIL). */
  listen(): Promise<void>;
  /** Releases the port at once; connected visitors stay. */
  close(): void;
}

/** The server's side of a mode. */
export interface ServerMode {
  /**
   * The entrance of a tunnel's visitors; null for a mode without a port of its own. `tunnel` returns the current
   * configuration of the tunnel; `port`: its port, or one of its range.
   */
  entrance(tunnel: () => TunnelConfig, port: number, onFailure: (error: Error) => void): Entrance | null;
}
