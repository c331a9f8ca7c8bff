import type { TunnelEdgeProcess, TunnelEdgeState, TunnelEdgeView } from '@gatehouse/contracts';
import type { KnownLease } from '../common/edge-leases.js';

/** An edge serves if one of its processes does: others may have been replaced, or be about to replace it. */
const STATES = ['serving', 'starting', 'draining', 'drained'] as const satisfies readonly TunnelEdgeState[];

/** One view for each edge, in the order of the leases. */
export function toEdgeViews(leases: readonly KnownLease[], revision: number): TunnelEdgeView[] {
  const edges = Map.groupBy(leases, ({ edge }) => edge);
  return [...edges.values()].map((processes) => toEdgeView(processes, revision));
}

function toEdgeView(processes: readonly KnownLease[], newest: number): TunnelEdgeView {
  const states = processes.map(({ state }) => state);
  const state = STATES.find((each) => states.includes(each)) ?? 'starting';
  // Of processes that were replaced, only their connections matter.
  const current = processes.filter((process) => process.state === state);
  const [first = processes[0]] = current;
  if (!first) throw new Error('an edge has a process');
  const revision = Math.min(...current.map((process) => process.revision));
  return {
    id: first.edge,
    name: first.name,
    version: first.version,
    state,
    drain: current.some(({ wanted }) => wanted === 'drained'),
    public_addresses: addressesOf(first),
    revision,
    up_to_date: revision >= newest,
    agents: sum(processes.map(({ agents }) => agents)),
    connections: sum(processes.map(({ connections }) => connections)),
    load: Math.max(...processes.map(({ load }) => load)),
    started_at: first.startedAt.toISOString(),
    processes: processes.map(toProcess),
  };
}

function toProcess(process: KnownLease): TunnelEdgeProcess {
  const { id, worker, pid, state, startedAt, revision, agents, connections, load } = process;
  return { id, worker, pid, state, started_at: startedAt.toISOString(), revision, agents, connections, load };
}

function addressesOf({ publicAgents, publicHttp, publicHttps }: KnownLease): TunnelEdgeView['public_addresses'] {
  if (publicAgents === null || publicHttp === null || publicHttps === null) return null;
  return { agents: publicAgents, http: publicHttp, https: publicHttps };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}
