import type { Actor } from '@gatehouse/auth';
import { pgPool } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { readLeases } from '../common/edge-leases.js';
import { Edges } from '../edge-host/edges.service.js';
import { Fleet } from '../edge-host/fleet.service.js';
import { seesAll, OwnedRows } from '../data/owned-rows.js';

/** More clients than one user has; the state of those beyond is not shown. */
const MAX_CLIENTS = 10_000;

/** Up to so many agents, the clients of several edges are counted one by one. */
const MAX_COUNTED = 20_000;

/** What is connected now; null: the data plane does not answer. */
export interface Presence {
  agents: number | null;
  connections: number | null;
}

/** Asks the data plane how many agents and visitors are connected. */
@Injectable()
export class PresenceReader {
  constructor(
    private readonly edges: Edges,
    private readonly fleet: Fleet,
    private readonly owned: OwnedRows,
    private readonly dataSource: DataSource,
  ) {}

  async of(actor: Actor): Promise<Presence> {
    try {
      return await (seesAll(actor) ? this.ofAll() : this.ofOwn(actor));
    } catch (error) {
      if (error instanceof AppError && error.code === 'EDGE_UNAVAILABLE') return { agents: null, connections: null };
      throw error;
    }
  }

  /** Connections of other edges as of the last renewal of their leases, and agents, too, if there are very many. */
  private async ofAll(): Promise<Presence> {
    const { edge, agents, connections } = await this.edges.status();
    const others = (await readLeases(pgPool(this.dataSource))).filter((lease) => lease.edge !== edge);
    const sum = others.reduce((total, lease) => total + lease.agents, agents);
    return {
      // An agent that is connected to two edges is in both sums.
      agents: others.length > 0 && sum <= MAX_COUNTED ? await this.fleet.onlineClients() : sum,
      connections: others.reduce((total, lease) => total + lease.connections, connections),
    };
  }

  private async ofOwn(actor: Actor): Promise<Presence> {
    const ids = await this.owned.clients(actor).ids(MAX_CLIENTS);
    const agents = await this.fleet.agentsOf(ids);
    if (agents === null || agents.silent.length > 0) return { agents: null, connections: null };
    // Only clients with an agent have visitors, apart from some that are about to disconnect.
    const online = ids.filter((id) => agents.of(id).length > 0);
    const totals = await Promise.all(online.map((id) => this.fleet.connections(id, 0)));
    return { agents: online.length, connections: totals.reduce((sum, { total }) => sum + total, 0) };
  }
}
