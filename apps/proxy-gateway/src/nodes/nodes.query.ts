import type { NodeView, Page } from '@gatehouse/contracts';
import { AppError } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { EntityManager } from 'typeorm';
import type { NodeQuery } from './node.dto.js';
import type { NodeEntity } from './node.entity.js';
import { toNodeView } from './node.view.js';
import type { NodeSourceRow } from './node.view.js';
import { NodeVault } from './node-vault.js';

const DEFAULT_LIMIT = 50;
const UNKNOWN_COUNTRY = 'ZZ';

/** By hand rather than through the entity: a page of 500 costs half. */
const SELECT_NODES = `
  SELECT id, fingerprint, source, custom_name AS "customName", original_name AS "originalName", type, server, port,
    network, tls, udp, sni, cipher, config, enabled, country, country_source AS "countrySource",
    created_at AS "createdAt", updated_at AS "updatedAt"
  FROM nodes WHERE id = ANY($1::bigint[]) ORDER BY id`;

const SELECT_SOURCES = `
  SELECT source.node_id, source.subscription_id, source.name, subscription.name AS subscription_name, subscription.last_success_at
  FROM node_sources source JOIN subscriptions subscription ON subscription.id = source.subscription_id
  WHERE source.node_id = ANY($1::bigint[]) ORDER BY source.subscription_id`;

/** Reads nodes as the API shows them. */
@Injectable()
export class NodesQuery {
  constructor(
    private readonly dataSource: DataSource,
    private readonly vault: NodeVault,
  ) {}

  async page(query: NodeQuery, showSecrets: boolean): Promise<Page<NodeView>> {
    const { clause, parameters } = filter(query);
    const { limit = DEFAULT_LIMIT, offset = 0 } = query;
    const [{ total }]: [{ total: number }] = await this.dataSource.query(
      `SELECT count(*)::integer AS total FROM nodes node ${clause}`,
      parameters,
    );
    const ids: { id: number }[] = await this.dataSource.query(
      `SELECT node.id FROM nodes node ${clause} ORDER BY node.id LIMIT ${limit} OFFSET ${offset}`,
      parameters,
    );
    const items = await this.views(
      this.dataSource.manager,
      ids.map(({ id }) => id),
      showSecrets,
    );
    return { items, total, limit, offset };
  }

  /** @throws AppError NOT_FOUND. */
  async one(manager: EntityManager, id: number, showSecrets: boolean): Promise<NodeView> {
    const [view] = await this.views(manager, [id], showSecrets);
    if (!view) throw nodeNotFound(id);
    return view;
  }

  private async views(manager: EntityManager, ids: number[], showSecrets: boolean): Promise<NodeView[]> {
    const rows: NodeEntity[] = await manager.query(SELECT_NODES, [ids]);
    const links: (NodeSourceRow & { node_id: number })[] = await manager.query(SELECT_SOURCES, [ids]);
    const sources = new Map<number, NodeSourceRow[]>();
    for (const link of links) sources.set(link.node_id, [...(sources.get(link.node_id) ?? []), link]);
    return rows.map((row) =>
      toNodeView(row, { node: this.vault.open(row.config), sources: sources.get(row.id) ?? [], showSecrets }),
    );
  }
}

function filter({ source, subscription_id, country }: NodeQuery): { clause: string; parameters: unknown[] } {
  const conditions: string[] = [];
  const parameters: unknown[] = [];
  const where = (condition: (parameter: string) => string, value: unknown): void => {
    parameters.push(value);
    conditions.push(condition(`$${parameters.length}`));
  };
  if (source !== undefined) where((value) => `node.source = ${value}`, source);
  if (country === UNKNOWN_COUNTRY) conditions.push('node.country IS NULL');
  else if (country !== undefined) where((value) => `node.country = ${value}`, country);
  if (subscription_id !== undefined) {
    const carried = 'SELECT 1 FROM node_sources WHERE node_id = node.id AND subscription_id';
    where((value) => `EXISTS (${carried} = ${value})`, subscription_id);
  }
  return { clause: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`, parameters };
}

export function nodeNotFound(id: number): AppError {
  return new AppError('NOT_FOUND', `There is no node ${id}.`);
}
