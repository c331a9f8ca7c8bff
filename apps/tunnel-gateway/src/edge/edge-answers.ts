import type { TunnelServer } from '@gatehouse/tunnel-kernel';
import type { ConnectionList, EdgeAgent, PeerQuestion } from '../common/edge-ipc.js';
import type { ClientDirectory } from './client-directory.js';
import type { EdgeRole } from './edge-role.js';

/** Connected agents of these clients; null: of all. */
export function agentsAt(
  server: TunnelServer,
  directory: ClientDirectory,
  clientIds: readonly number[] | null,
): EdgeAgent[] {
  const wanted = clientIds && new Set(clientIds);
  return server
    .agents()
    .filter(({ clientId }) => !wanted || wanted.has(clientId))
    .map((agent) => ({ ...agent, previousKey: directory.usesPreviousKey(agent.clientId) }));
}

export function connectionsAt(server: TunnelServer, clientId: number, limit: number): ConnectionList {
  const all = server.connections(clientId);
  const items = all.slice(0, limit).map(({ resource, visitor, startedAt, upload, download }) => ({
    ...resource,
    ...visitor,
    startedAt,
    upload,
    download,
  }));
  return { items, total: all.length };
}

/** Answers what another edge asks. @throws Error for another question: that edge is of another version. */
export async function answerPeer(edge: EdgeRole, question: PeerQuestion): Promise<unknown> {
  switch (question.method) {
    case 'agents':
      return edge.agents(question.params.clientIds);
    case 'tunnels':
      return edge.tunnels(question.params.ids);
    case 'checkedTargets':
      return edge.checkedTargets(question.params.hostIds);
    case 'connections':
      return edge.connections(question.params.clientId, question.params.limit);
    case 'requests':
      return edge.requests(question.params);
    case 'kick':
      return edge.kick(question.params.clientId);
    default:
      throw new Error('there is no such question');
  }
}
