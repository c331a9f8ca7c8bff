import type { TunnelEdgeList, TunnelEdgeView } from '@gatehouse/contracts';
import { pgPool, UnitOfWork } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { readRevision } from '../common/config-rows.js';
import { readLeases, type EdgeState, type WantedState } from '../common/edge-leases.js';
import { toEdgeViews } from './edge.view.js';

/** Also holds the rows, so that of two requests at once one sees what the other has decided. */
const HOLD = `
  SELECT edge, state, wanted FROM tunnel_gateway_ops.edges WHERE lease_until > clock_timestamp() ORDER BY id
  FOR NO KEY UPDATE`;
const WANT = 'UPDATE tunnel_gateway_ops.edges SET wanted = $2 WHERE edge = $1 AND wanted <> $2';

interface HeldRow {
  edge: string;
  state: EdgeState;
  wanted: WantedState;
}

/** The edges that share this database: all of them, whichever one this service is connected to. */
@Injectable()
export class EdgeDirectory {
  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async list(): Promise<TunnelEdgeList> {
    const pool = pgPool(this.dataSource);
    // The leases first: an edge that has the newest revision must not look as if it had not.
    const leases = await readLeases(pool);
    const revision = await readRevision(pool);
    return { revision, items: toEdgeViews(leases, revision) };
  }

  /**
   * Has an edge drained, or lets it serve again; it begins at once and needs a while. @throws AppError NOT_FOUND,
   * CONFLICT if no other edge serves
   */
  async want(id: string, wanted: WantedState): Promise<TunnelEdgeView> {
    await this.unitOfWork.run(async (tx) => {
      const rows: HeldRow[] = await tx.query(HOLD);
      if (!rows.some(({ edge }) => edge === id)) throw unknownEdge(id);
      const serves = (row: HeldRow): boolean => row.state === 'serving' && row.wanted === 'serving';
      if (wanted === 'drained' && !rows.some((row) => row.edge !== id && serves(row))) {
        throw new AppError('CONFLICT', 'No other edge serves: start another one first, or stop the program');
      }
      await tx.query(WANT, [id, wanted]);
    });
    const { items } = await this.list();
    const found = items.find((edge) => edge.id === id);
    if (!found) throw unknownEdge(id);
    return found;
  }
}

function unknownEdge(id: string): AppError {
  return new AppError('NOT_FOUND', `There is no edge with the id ${id}`);
}
