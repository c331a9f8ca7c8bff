import { TargetError, TunnelError } from '../errors.js';
import type { DialFailure } from '../wire/messages.js';
import { codeOf } from './answers.js';

/**
 * What came of a connection to a target: the agent's reason, or `answers`; `starting`: the server or the agent does not
 * have this configuration yet; `offline`: no agent is connected; `tls`: no TLS with the target; `no_http`: it does not
 * speak HTTP; `unchecked`: an agent is there, and the mode has no target of its own; `unsupported`: the agent cannot lead
 * ports of a range to ports of their own.
 */
export type TargetCheckState =
  | Exclude<DialFailure, 'unknown_tunnel'>
  | 'answers'
  | 'starting'
  | 'offline'
  | 'overloaded'
  | 'tls'
  | 'no_http'
  | 'unchecked'
  | 'unsupported';

/** Why a target did not answer. */
export function stateOf(error: unknown): TargetCheckState {
  if (error instanceof TargetError) return error.reason === 'unknown_tunnel' ? 'starting' : error.reason;
  if (error instanceof TunnelError) {
    if (error.code === 'target') return 'tls';
    return error.code === 'overloaded' ? 'overloaded' : 'offline';
  }
  return codeOf(error) === 'UND_ERR_HEADERS_TIMEOUT' ? 'timeout' : 'no_http';
}

/** Whether the error is the target's fault. */
export function blames(error: Error): boolean {
  if (error instanceof TunnelError) return error.code === 'target';
  return codeOf(error) === 'UND_ERR_HEADERS_TIMEOUT';
}
