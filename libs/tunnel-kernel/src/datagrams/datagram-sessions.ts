import type { RelayEndReason } from '@gatehouse/net';
import type { HostAndPort } from '../environment.js';
import type { Admitted } from '../modes/admission.js';
import type { Endpoint } from '../base/endpoint.js';

/** The longest payload of a UDP datagram over IPv4. */
export const MAX_DATAGRAM_BYTES = 65_507;

export interface DatagramSessionOptions {
  /** The visitor, the tunnel and the client. Datagrams over the client's rate limit are dropped, in both directions. */
  admitted: Omit<Admitted, 'release'>;
  /** The address that the visitor sends to. */
  entrance: Endpoint;
  /** Idle timeout in milliseconds, counting both directions; 0: only `close` ends the session. */
  idleMs: number;
  /** `source` is null for a session to the tunnel's own targets. `payload` is only valid during the call. */
  onDatagram(payload: Uint8Array, source: HostAndPort | null): void;
  /** Called once, whichever side ended the session. */
  onClose?(reason: RelayEndReason): void;
}

/** The datagrams of one visitor, carried by the agent. */
export interface DatagramSession {
  /**
   * Sends to `destination`, an address or name that the agent resolves and its rules allow; without it to the target
   * that the agent chose for the session. As with UDP, losses are not reported. `payload` may be changed afterwards.
   */
  send(payload: Uint8Array, destination?: HostAndPort): void;
  close(): void;
}

/**
 * Opens sessions. Each is a flow of the ledger that counts payload bytes, and whose `stop` ends the session. The caller
 * must have checked admission and verification before.
 */
export interface DatagramSessions {
  /**
   * A session without an answer lasts 10 s at most, and may be evicted for others (`SessionShares`). Datagrams of an
   * open session are lost while the agent is away. @throws TunnelError `overloaded`: too many sessions; `offline`: no
   * agent of the client is connected.
   */
  open(options: DatagramSessionOptions): DatagramSession;
}
