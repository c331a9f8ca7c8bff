import type { NodeIds, NodeView, Page } from '@gatehouse/contracts';
import { pgPool } from '@gatehouse/persistence';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { ActiveConnections, type ConnectionCounts } from './active-connections.js';
import { limitedCount } from '../data/limited-count.js';
import { GENERAL_URL } from '../data/node-health.entity.js';
import type { NodeConditions, NodeQuery } from './node.dto.js';
import { selectNodes } from './node-filter.js';
import { toNodeView } from './node.view.js';
import type { NodeRow } from './node.view.js';
import { OpenedNodes } from './opened-nodes.js';

/** A node as the database writes it. Its counters are numbers that JavaScript reads without rounding them. */
const COLUMNS = `
  node.id, node.fingerprint, node.source, node.custom_name AS "customName", node.original_name AS "originalName",
  node.type, node.server, node.port, node.network, node.tls, node.udp, node.sni, node.cipher, node.config, node.enabled,
  node.country, node.country_source AS "countrySource", node.tags, node.exit_ip AS "exitIp",
  ${limitedCount('node.exit_asn')} AS "exitAsn", node.circuit_open_since AS "circuitOpenSince",
  node.created_at AS "createdAt", node.updated_at AS "updatedAt",
  health.alive, health.delay_ms, health.delay_history, health.last_tested_at, health.error_code, health.error_message,
  health.failure_count, ${limitedCount('health.tests')} AS tests, ${limitedCount('health.successes')} AS successes,
  coalesce(${limitedCount('total.upload')}, 0) AS upload,
  coalesce(${limitedCount('total.download')}, 0) AS download,
  (SELECT json_agg(json_build_object('subscription_id', source.subscription_id, 'name', source.name,
      'subscription_name', subscription.name, 'last_success_at', subscription.last_success_at)
      ORDER BY source.subscription_id)
    FROM node_sources source JOIN subscriptions subscription ON subscription.id = source.subscription_id
    WHERE source.node_id = node.id) AS sources`;

/**
 * The nodes with these ids in their order, as one JSON text: of the columns of a page of 500, the driver would make
 * 17,000 values one by one. The planner takes the array to be short, and looks up each node; otherwise it reads all
 * rows and uses a hash join.
 */
const itemsOf = (ids: string): string => `
  SELECT json_agg(item ORDER BY item.place) FROM (
    SELECT wanted.place, ${COLUMNS}
    FROM unnest(${ids}) WITH ORDINALITY AS wanted (id, place)
    JOIN nodes node ON node.id = wanted.id
    LEFT JOIN node_health health ON health.node_id = node.id AND health.test_url = '${GENERAL_URL}'
    LEFT JOIN traffic_totals total ON total.outbound = 'n' || node.id
  ) AS item`;

/** Reads nodes as the API shows them. */
@Injectable()
export class NodesQuery {
  constructor(
    private readonly dataSource: DataSource,
    private readonly opened: OpenedNodes,
    private readonly connections: ActiveConnections,
  ) {}

  async page(query: NodeQuery, showSecrets: boolean): Promise<Page<NodeView>> {
    const { from, orderBy, parameters, name } = selectNodes(query);
    const { limit, offset } = query;
    const counting = this.connections.perNode();
    const bounds = `LIMIT $${parameters.length + 1} OFFSET $${parameters.length + 2}`;
    const ids = `ARRAY(SELECT node.id ${from} ORDER BY ${orderBy} ${bounds})`;
    const { rows } = await pgPool(this.dataSource).query<{ total: number; items: NodeRow[] | null }>({
      // Each connection keeps the statements that have a name.
      ...(name !== null && { name }),
      text: `SELECT (SELECT count(*)::integer ${from}) AS total, (${itemsOf(ids)}) AS items`,
      values: [...parameters, limit, offset],
    });
    const [{ total, items } = { total: 0, items: null }] = rows;
    return { items: this.views(items ?? [], await counting, showSecrets), total, limit, offset };
  }

  async ids(query: NodeConditions): Promise<NodeIds> {
    const { from, orderBy, parameters } = selectNodes(query);
    const rows: { id: number }[] = await this.dataSource.query(
      `SELECT node.id ${from} ORDER BY ${orderBy}`,
      parameters,
    );
    return { ids: rows.map(({ id }) => id) };
  }

  /** @throws AppError NOT_FOUND. */
  async one(manager: EntityManager, id: number, showSecrets: boolean): Promise<NodeView> {
    const counting = this.connections.perNode();
    const rows: { items: NodeRow[] | null }[] = await manager.query(`SELECT (${itemsOf('$1::bigint[]')}) AS items`, [
      [id],
    ]);
    const [view] = this.views(rows[0]?.items ?? [], await counting, showSecrets);
    if (!view) throw nodeNotFound(id);
    return view;
  }

  private views(rows: readonly NodeRow[], active: ConnectionCounts | null, showSecrets: boolean): NodeView[] {
    return rows.map((row) =>
      toNodeView(row, {
        opened: this.opened.get(row),
        activeConnections: active === null ? null : (active.get(row.id) ?? 0),
        showSecrets,
      }),
    );
  }
}

export function nodeNotFound(id: number): AppError {
  return new AppError('NOT_FOUND', `There is no node ${id}.`);
}
