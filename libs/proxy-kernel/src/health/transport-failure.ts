import { DialError, type DialStage } from '../interfaces/outbound.js';

/** Kinds of a failed handshake that are the node's own: the others repeat what it says of the target. */
const OWN_FAILURES = new Set(['tls_error', 'auth_failed', 'protocol_error', 'connection_reset']);
/** Types that answer only once they have the target, and the step after which their silence may be the target's. */
const WAITS_FOR_TARGET: ReadonlyMap<string, DialStage> = new Map([
  ['socks5', 'greeting'],
  ['ssh', 'greeting'],
  // It has no answer of its own: a node that hangs cannot be told from a target that does.
  ['http', 'connect'],
]);

export interface FailedDial {
  error: unknown;
  /** Type of the outbound. */
  type: string;
  /** Steps towards the node's server that were done. */
  reached: ReadonlySet<DialStage>;
}

/** Whether a dial failed for the node's sake, as far as can be told: a target that cannot be reached is no fault of the node. */
export function isTransportFailure(dial: FailedDial): boolean {
  const { error } = dial;
  if (!(error instanceof DialError)) return false;
  const { cause, stage, kind } = error;
  if (!(cause instanceof DialError)) return isOwnFailure(error, dial);
  // Through a hop: it is this node that the hop could not reach, unless the hop itself failed.
  if (cause.stage === stage && cause.kind === kind) return stage === 'handshake' && saysOfTarget(error);
  // A refusal that the protocol has no better word for.
  return isOwnFailure(cause, dial);
}

function isOwnFailure({ stage, kind }: DialError, { type, reached }: FailedDial): boolean {
  // Given up by the client, short of something of our own, or refused without a reason.
  if (kind === 'other') return false;
  if (stage === 'handshake') return OWN_FAILURES.has(kind);
  const last = WAITS_FOR_TARGET.get(type);
  if (stage === 'dial') return !(kind === 'timeout' && last !== undefined && reached.has(last));
  return stage === 'dns';
}

function saysOfTarget({ kind }: DialError): boolean {
  return kind !== 'other' && !OWN_FAILURES.has(kind);
}
