import type { Gate } from '../access/gate.js';
import type { VisitorVerifier } from '../access/visitor-verifier.js';
import type { TunnelConfig } from '../config.js';
import type { TunnelLogger } from '../environment.js';
import type { FlowLedger } from '../flow-ledger.js';
import type { ChannelSource } from '../session/channel-source.js';

/** What the server's side of every mode works with. */
export interface ModeContext {
  /** Milliseconds since the epoch. */
  now: () => number;
  logger: TunnelLogger;
  ledger: FlowLedger;
  gate: Gate;
  verifier: VisitorVerifier;
  channels: ChannelSource;
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
