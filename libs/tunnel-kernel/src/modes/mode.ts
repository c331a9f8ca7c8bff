import type { ListeningSockets } from '@gatehouse/net';
import type { VisitorVerifier } from '../access/visitor-verifier.js';
import type { TunnelConfig } from '../config.js';
import type { DatagramSessions } from '../datagrams/datagram-sessions.js';
import type { TunnelLogger } from '../environment.js';
import type { FlowLedger } from '../flow-ledger.js';
import type { ChannelSource } from '../session/channel-source.js';
import type { Admission } from './admission.js';

/** What the server's side of every mode works with. */
export interface ModeContext {
  /** Milliseconds since the epoch. */
  now: () => number;
  logger: TunnelLogger;
  ledger: FlowLedger;
  /**
   * The way in for every mode and for hosts: `receive` for a socket of a tunnel's port, `admit` for a UDP session or a
   * request. Who is refused gets the answer of its protocol (by `GateRefusal`) or a reset; who is admitted is released
   * when it is gone, and its bytes go through `throttle()`.
   */
  admission: Admission;
  verifier: VisitorVerifier;
  channels: ChannelSource;
  /** Datagrams through agents: `open` a session for each visitor of a UDP port, or for each UDP association. */
  datagrams: DatagramSessions;
  /** The ports of this server. */
  sockets: ListeningSockets;
}

/** A public port of one tunnel. */
export interface Entrance {
  /** The port that is bound; 0 while none is. */
  readonly port: number;
  /** @throws Error of `listen` (EADDRINUSE, EACCES, EADDRNOTAVAIL). */
  listen(): Promise<void>;
  /** Gives the port up at once; visitors that are connected stay. */
  close(): void;
}

/** The server's side of a mode. */
export interface ServerMode {
  /**
   * Where visitors of a tunnel come in; null for a mode without a port of its own. `tunnel` answers the tunnel as it is
   * configured at the moment.
   */
  entrance(tunnel: () => TunnelConfig, onFailure: (error: Error) => void): Entrance | null;
}
