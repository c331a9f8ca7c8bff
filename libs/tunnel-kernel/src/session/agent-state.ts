import type { AgentState } from '../server-environment.js';
import type { ServerSession } from './server-session.js';

/** An agent as others see it. `packets`: its datagrams go as such at the moment. */
export function agentStateOf(
  { identity, arrival, since, roundTripMs, pool }: ServerSession,
  packets: boolean,
): AgentState {
  const { client, agentId, software } = identity;
  return {
    clientId: client.id,
    agentId,
    software,
    address: arrival.from?.address ?? '',
    via: arrival.via,
    connectedAt: since,
    roundTripMs,
    idleChannels: pool?.idleCount ?? 0,
    packets,
  };
}
