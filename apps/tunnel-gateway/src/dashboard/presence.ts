import type { Actor } from '@gatehouse/auth';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { Edges } from '../edge-host/edges.service.js';
import { seesAll, OwnedRows } from '../data/owned-rows.js';

/** More clients than one user has; the state of those beyond is not shown. */
const MAX_CLIENTS = 10_000;

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
    private readonly owned: OwnedRows,
  ) {}

  async of(actor: Actor): Promise<Presence> {
    try {
      return await (seesAll(actor) ? this.edges.status() : this.ofOwn(actor));
    } catch (error) {
      if (error instanceof AppError && error.code === 'EDGE_UNAVAILABLE') return { agents: null, connections: null };
      throw error;
    }
  }

  private async ofOwn(actor: Actor): Promise<Presence> {
    const ids = await this.owned.clients(actor).ids(MAX_CLIENTS);
    const agents = await this.edges.agentsOf(ids);
    if (agents === null) return { agents: null, connections: null };
    // Only clients with an agent have visitors, apart from some that are about to disconnect.
    const totals = await Promise.all([...agents.keys()].map((id) => this.edges.connections(id, 0)));
    return { agents: agents.size, connections: totals.reduce((sum, { total }) => sum + total, 0) };
  }
}
