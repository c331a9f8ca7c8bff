import type { NodeIds, NodeView, Page } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import { ActiveConnections } from './active-connections.js';
import type { NodeConditions, NodeQuery } from './node.dto.js';
import { selectNodes } from './node-filter.js';
import { toNodeView } from './node.view.js';
import type { NodeRow, NodeSourceRow } from './node.view.js';
import { OpenedNodes } from './opened-nodes.js';

/**
 * Written as SQL rather than through the entity, which costs twice as much for a page of 500. Each joined table is
 * restricted to the wanted rows: otherwise the planner reads all rows and uses a hash join.
 */
const SELECT_NODES = `
  SELECT node.id, node.fingerprint, node.source, node.custom_name AS "customName",
    node.original_name AS "originalName", node.type, node.server, node.port, node.network, node.tls, node.udp, node.sni,
    node.cipher, node.config, node.enabled, node.country, node.country_source AS "countrySource", node.tags,
    node.exit_ip AS "exitIp", node.exit_asn AS "exitAsn", node.circuit_open_since AS "circuitOpenSince",
    node.created_at AS "createdAt", node.updated_at AS "updatedAt",
    health.alive, health.delay_ms, health.delay_history, health.last_tested_at, health.error_code,
    health.error_message, health.failure_count, health.tests, health.successes,
    coalesce(total.upload, 0)::bigint AS upload, coalesce(total.download, 0)::bigint AS download
  FROM nodes node
  LEFT JOIN node_health health
    ON health.node_id = node.id AND health.node_id = ANY($1::bigint[]) AND health.test_url = ''
  LEFT JOIN traffic_totals total ON total.outbound = 'n' || node.id AND total.outbound = ANY($2::text[])
  WHERE node.id = ANY($1::bigint[])
  ORDER BY array_position($1::bigint[], node.id)`;

const SELECT_SOURCES = `
  SELECT source.node_id, source.subscription_id, source.name, subscription.name AS subscription_name, subscription.last_success_at
  FROM node_sources source JOIN subscriptions subscription ON subscription.id = source.subscription_id
  WHERE source.node_id = ANY($1::bigint[]) ORDER BY source.subscription_id`;

/** Reads nodes as the API shows them. */
@Injectable()
export class NodesQuery {
  constructor(
    private readonly dataSource: DataSource,
    private readonly opened: OpenedNodes,
    private readonly connections: ActiveConnections,
  ) {}

  async page(query: NodeQuery, showSecrets: boolean): Promise<Page<NodeView>> {
    const { from, orderBy, parameters } = selectNodes(query);
    const { limit, offset } = query;
    const [[{ total }], ids]: [[{ total: number }], { id: number }[]] = await Promise.all([
      this.dataSource.query(`SELECT count(*)::integer AS total ${from}`, parameters),
      this.dataSource.query(`SELECT node.id ${from} ORDER BY ${orderBy} LIMIT ${limit} OFFSET ${offset}`, parameters),
    ]);
    const wanted = ids.map(({ id }) => id);
    const items = await this.views(this.dataSource.manager, wanted, showSecrets);
    return { items, total, limit, offset };
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
    const [view] = await this.views(manager, [id], showSecrets);
    if (!view) throw nodeNotFound(id);
    return view;
  }

  private async views(manager: EntityManager, ids: number[], showSecrets: boolean): Promise<NodeView[]> {
    const counting = this.connections.perNode();
    const rows: NodeRow[] = await manager.query(SELECT_NODES, [ids, ids.map((id) => `n${id}`)]);
    const links: (NodeSourceRow & { node_id: number })[] = await manager.query(SELECT_SOURCES, [ids]);
    const sources = new Map<number, NodeSourceRow[]>();
    for (const link of links) {
      const present = sources.get(link.node_id);
      if (present) present.push(link);
      else sources.set(link.node_id, [link]);
    }
    const active = await counting;
    return rows.map((row) =>
      toNodeView(row, {
        opened: this.opened.get(row),
        sources: sources.get(row.id) ?? [],
        activeConnections: active === null ? null : (active.get(row.id) ?? 0),
        showSecrets,
      }),
    );
  }
}

export function nodeNotFound(id: number): AppError {
  return new AppError('NOT_FOUND', `There is no node ${id}.`);
}
