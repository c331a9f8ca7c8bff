import { formatHostPort, type ByteStream } from '@gatehouse/net';
import type { HostAndPort } from '../../environment.js';
import type { AdmittedSocket } from '../admission.js';
import type { ModeContext } from '../mode.js';

/** Longer than the agent's own time limit for a destination. */
const REACH_MS = 15_000;

/** A connection to the visitor's destination. @throws TargetError, or TunnelError if no agent carries it. */
export function reachDestination(
  { channels }: ModeContext,
  { resource, clientId, visitor, entrance }: AdmittedSocket,
  destination: HostAndPort,
): Promise<ByteStream> {
  const start = {
    kind: 'tunnel' as const,
    id: resource.id,
    target: null,
    destination: formatHostPort(destination.host, destination.port),
    visitor,
    entrance,
  };
  return channels.reach(clientId, start, REACH_MS);
}
