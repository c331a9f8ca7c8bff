import type { RelayEndReason } from '@gatehouse/net';
import type { HostAndPort } from '../environment.js';
import type { Admitted } from '../modes/admission.js';
import type { Endpoint } from '../base/endpoint.js';

/** The longest payload of a UDP datagram over IPv4. */
export const MAX_DATAGRAM_BYTES = 65_507;

export interface DatagramSessionOptions {
  /** Who sends, to which tunnel of which client. What its rate limit does not let go is dropped, both ways. */
  admitted: Omit<Admitted, 'release'>;
  /** The address that the visitor sends to. */
  entrance: Endpoint;
  /** Ends the session after this long without a datagram either way, milliseconds; 0: only `close` does. */
  idleMs: number;
  /** `source` is null for a session to the tunnel's own targets. `payload` is only good during the call. */
  onDatagram(payload: Uint8Array, source: HostAndPort | null): void;
  /** Once, whoever ended it. */
  onClose?(reason: RelayEndReason): void;
}

/** The datagrams of one visitor through the agent. */
export interface DatagramSession {
  /**
   * To `destination`, an address or name that the agent resolves and its rules allow; without one to the target that
   * the agent chose for the session. As with UDP itself, nobody is told what was lost. `payload` may be changed
   * afterwards.
   */
  send(payload: Uint8Array, destination?: HostAndPort): void;
  close(): void;
}

/**
 * Opens sessions; each is a flow of the ledger (its bytes are payload), whose `stop` ends it. Admission and the verifier
 * are asked by the caller, before.
 */
export interface DatagramSessions {
  /**
   * One without an answer lasts 10 s at most, and may have to make room for others (`SessionShares`).
   * @throws TunnelError `overloaded`: too many sessions; `offline`: no agent of the client is connected. Of a session that is
   * there, datagrams are lost while the agent is away.
   */
  open(options: DatagramSessionOptions): DatagramSession;
}
