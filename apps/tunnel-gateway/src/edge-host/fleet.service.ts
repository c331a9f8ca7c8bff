import { AppError } from '@gatehouse/platform';
import type { CheckedTarget, RecordedDetail, TunnelState } from '@gatehouse/tunnel-kernel';
import { Injectable } from '@nestjs/common';
import type {
  ConnectionList,
  EdgeAgent,
  EdgeCalls,
  PeerAnswers,
  PeerMethod,
  RequestsQuestion,
  VisitorConnection,
} from '../common/edge-ipc.js';
import { mergeRequests } from '../common/merge-requests.js';
import { Edges } from './edges.service.js';

/** A report of one edge. `edge`: its name; null: there is only one. */
export type Placed<T> = T & { edge: string | null };

/** Agents of clients, newest first. */
export interface FleetAgents {
  of(clientId: number): Placed<EdgeAgent>[];
  /** Names of edges that did not answer: clients without an agent may have one there. */
  silent: string[];
}

export interface FleetConnections {
  items: Placed<VisitorConnection>[];
  total: number;
  silent: string[];
}

/** Recorded requests, newest first. */
export interface FleetRequests {
  items: Placed<RecordedDetail>[];
  /** There are more, although these are fewer than asked for. */
  isCut: boolean;
  silent: string[];
}

/** As for `run_status`: the lowest one counts. */
const RANKS: Readonly<Record<TunnelState['state'], number>> = { running: 0, error: 1, waiting: 2 };

/** All edges as one: asks the edge of this service, and through it the others. */
@Injectable()
export class Fleet {
  constructor(private readonly edges: Edges) {}

  /** Null: the edge of this service does not answer. */
  async agentsOf(clientIds: number[]): Promise<FleetAgents | null> {
    if (clientIds.length === 0) return { of: () => [], silent: [] };
    const [here, others] = await Promise.all([this.edges.agents(clientIds), this.ask('agents', { clientIds })]);
    if (here === null || others === null) return null;
    const { answers, silent } = others;
    const all = [...placed(here, ownName(others)), ...answers.flatMap(({ name, result }) => placed(result, name))];
    const byClient = Map.groupBy(
      all.sort((one, other) => other.connectedAt - one.connectedAt),
      ({ clientId }) => clientId,
    );
    return { of: (clientId) => byClient.get(clientId) ?? [], silent };
  }

  /** Number of clients with an agent at any edge. Null: the edge of this service does not answer. */
  async onlineClients(): Promise<number | null> {
    const params = { clientIds: null };
    const [here, others] = await Promise.all([this.edges.agents(null), this.ask('agents', params)]);
    if (here === null || others === null) return null;
    const all = [...here, ...others.answers.flatMap(({ result }) => result)];
    return new Set(all.map(({ clientId }) => clientId)).size;
  }

  /**
   * The states of these tunnels: of each the one that its `run_status` stands for. Null: the edge of this service does not
   * answer.
   */
  async tunnelStates(ids: number[]): Promise<Map<number, TunnelState> | null> {
    if (ids.length === 0) return new Map();
    const [here, others] = await Promise.all([this.edges.tunnels(ids), this.ask('tunnels', { ids })]);
    if (here === null || others === null) return null;
    const best = new Map<number, TunnelState>();
    for (const state of [...here, ...others.answers.flatMap(({ result }) => result)]) {
      const known = best.get(state.id);
      if (!known || RANKS[state.state] < RANKS[known.state]) best.set(state.id, state);
    }
    return best;
  }

  /** What each edge found out about the targets of these hosts, by host. Edges that do not answer are left out. */
  async checkedTargets(hostIds: number[]): Promise<Map<number, Placed<CheckedTarget>[]>> {
    if (hostIds.length === 0) return new Map();
    const [here, others] = await Promise.all([
      this.edges.checkedTargets(hostIds),
      this.ask('checkedTargets', { hostIds }),
    ]);
    const own = placed(here ?? [], others && ownName(others));
    const all = [...own, ...(others?.answers ?? []).flatMap(({ name, result }) => placed(result, name))];
    return Map.groupBy(all, ({ hostId }) => hostId);
  }

  /** @throws AppError EDGE_UNAVAILABLE if the edge of this service does not answer */
  async connections(clientId: number, limit: number): Promise<FleetConnections> {
    const [here, others] = await Promise.all([
      this.edges.connections(clientId, limit),
      this.ask('connections', { clientId, limit }),
    ]);
    if (others === null) throw unavailable();
    const { answers, silent } = others;
    const own = { name: ownName(others), result: here };
    const lists: { name: string | null; result: ConnectionList }[] = [own, ...answers];
    return {
      items: lists.flatMap(({ name, result }) => placed(result.items, name)).slice(0, limit),
      total: lists.reduce((total, { result }) => total + result.total, 0),
      silent,
    };
  }

  /** @throws AppError EDGE_UNAVAILABLE if the edge of this service does not answer */
  async requests(question: RequestsQuestion): Promise<FleetRequests> {
    const [here, others] = await Promise.all([this.edges.requests(question), this.ask('requests', question)]);
    if (others === null) throw unavailable();
    const { answers, silent } = others;
    const lists = [{ name: ownName(others), result: here }, ...answers].map(({ name, result }) => ({
      ...result,
      items: placed(result.items, name),
    }));
    return { ...mergeRequests(lists, question.limit), silent };
  }

  /**
   * Ends the sessions and connections of a client at all edges; its agents may reconnect. True if one was connected.
   * @throws AppError EDGE_UNAVAILABLE if an edge does not answer: it may still have some
   */
  async kick(clientId: number): Promise<boolean> {
    const [here, others] = await Promise.all([this.edges.kick(clientId), this.ask('kick', { clientId })]);
    if (others === null) throw unavailable();
    const { answers, silent } = others;
    if (silent.length > 0)
      throw unavailable(`An edge does not answer, and may still have the client: ${silent.join(', ')}`);
    return here || answers.some(({ result }) => result);
  }

  private ask<M extends PeerMethod>(
    method: M,
    params: EdgeCalls[M]['params'],
  ): Promise<PeerAnswers<EdgeCalls[M]['result']> | null> {
    return this.edges.peers({ method, params } as EdgeCalls['peers']['params']) as Promise<PeerAnswers<
      EdgeCalls[M]['result']
    > | null>;
  }
}

/** Null: there is no other edge. */
function ownName({ own, answers, silent }: PeerAnswers): string | null {
  return answers.length + silent.length > 0 ? own : null;
}

function unavailable(message?: string): AppError {
  return new AppError('EDGE_UNAVAILABLE', message, { retryAfterSeconds: 1 });
}

function placed<T extends object>(items: readonly T[], edge: string | null): Placed<T>[] {
  return items.map((item) => ({ ...item, edge }));
}
