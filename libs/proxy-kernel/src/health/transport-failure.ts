import { DialError, type DialStage } from '../interfaces/outbound.js';

/** Kinds of handshake failures that are the node's own; other kinds repeat what it says about the target. */
const OWN_FAILURES = new Set(['tls_error', 'auth_failed', 'protocol_error', 'connection_reset']);
/** Types that answer only once they have the target, with the step after which their silence may be the target's. */
const WAITS_FOR_TARGET: ReadonlyMap<string, DialStage> = new Map([
  ['socks5', 'greeting'],
  ['ssh', 'greeting'],
  // HTTP has no answer of its own, so a node that hangs looks like a target that does.
  ['http', 'connect'],
]);

export interface FailedDial {
  error: unknown;
  /** Type of the outbound. */
  type: string;
  /** Steps towards the node's server that succeeded. */
  reached: ReadonlySet<DialStage>;
}

/**
 * Whether a failed dial counts against the node, as far as can be known: an unreachable target is not the node's fault.
 */
export function isTransportFailure(dial: FailedDial): boolean {
  const { error } = dial;
  if (!(error instanceof DialError)) return false;
  const { cause, stage, kind } = error;
  if (!(cause instanceof DialError)) return isOwnFailure(error, dial);
  // Through a hop: the hop could not reach this node, unless the hop itself failed.
  if (cause.stage === stage && cause.kind === kind) return stage === 'handshake' && saysOfTarget(error);
  // A refusal without a specific reason.
  return isOwnFailure(cause, dial);
}

function isOwnFailure({ stage, kind }: DialError, { type, reached }: FailedDial): boolean {
  // The client gave up, a resource of ours ran out, or the refusal had no reason.
  if (kind === 'other') return false;
  if (stage === 'handshake') return OWN_FAILURES.has(kind);
  const last = WAITS_FOR_TARGET.get(type);
  if (stage === 'dial') return !(kind === 'timeout' && last !== undefined && reached.has(last));
  return stage === 'dns';
}

function saysOfTarget({ kind }: DialError): boolean {
  return kind !== 'other' && !OWN_FAILURES.has(kind);
}
