import type { NodeSource, ProxyNode } from '@gatehouse/contracts';
import { takeRowIds } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { CountryDatabase } from './country-database.js';
import { describeNode } from './describe-node.js';
import { guessCountry } from './guess-country.js';
import { lockNodes } from './lock-nodes.js';
import { mapInSlices } from './in-slices.js';
import { NodeVault, type SealedNode } from '../data/node-vault.js';

export interface NewNode {
  fingerprint: string;
  node: ProxyNode;
}

type NodeRow = NewNode & { id: number };

/** Columns that follow from a node's definition, in the order of their parameters. */
const COLUMNS = [
  ['fingerprint', 'text'],
  ['original_name', 'text'],
  ['type', 'text'],
  ['server', 'text'],
  ['port', 'integer'],
  ['network', 'text'],
  ['tls', 'text'],
  ['udp', 'boolean'],
  ['sni', 'text'],
  ['cipher', 'text'],
  ['config', 'text'],
  ['country', 'text'],
  ['country_source', 'text'],
] as const;
const NAMES = COLUMNS.map(([name]) => name).join(', ');
const arrays = (first: number): string => COLUMNS.map(([, type], index) => `$${index + first}::${type}[]`).join(', ');

const INSERT = `
  INSERT INTO nodes (source, id, ${NAMES})
  SELECT $1, entry.* FROM unnest($2::bigint[], ${arrays(3)}) AS entry
  ON CONFLICT (fingerprint) DO NOTHING`;

/**
 * A country that a user chose or that was measured survives a new definition; so does one found by resolving the
 * server's name.
 */
const kept = `(nodes.country_source IN ('manual', 'exit_ip')
  OR (nodes.country_source = 'server_ip' AND entry.country_source <> 'server_ip' AND nodes.server = entry.server))`;
const UPDATE = `
  UPDATE nodes SET ${COLUMNS.map(([name]) =>
    name.startsWith('country')
      ? `${name} = CASE WHEN ${kept} THEN nodes.${name} ELSE entry.${name} END`
      : `${name} = entry.${name}`,
  ).join(', ')}, updated_at = now()
  FROM unnest($1::bigint[], ${arrays(2)}) AS entry (id, ${NAMES})
  WHERE nodes.id = entry.id`;

/** Writes many nodes at once, within the caller's transaction. */
@Injectable()
export class NodeWriter {
  constructor(
    private readonly vault: NodeVault,
    private readonly countries: CountryDatabase,
  ) {}

  /**
   * Makes transactions that write sets of nodes take turns: a node that one of them drops must not be deleted while
   * another adds it.
   */
  async lock(tx: EntityManager): Promise<void> {
    await tx.query(`SELECT pg_advisory_xact_lock(hashtext('proxy_gateway.nodes'))`);
  }

  /** Returns ids by fingerprint; the row of an existing node is not changed. */
  async upsert(tx: EntityManager, nodes: readonly NewNode[], source: NodeSource): Promise<Map<string, number>> {
    if (nodes.length === 0) return new Map();
    // A definition is sealed for its row, so the id is needed first.
    const ids = await takeRowIds(tx, 'nodes', nodes.length);
    const entries = nodes.map((entry, index) => ({ ...entry, id: ids[index]! }));
    await tx.query(INSERT, [source, ids, ...(await this.parameters(entries))]);
    const rows: { id: number; fingerprint: string }[] = await tx.query(
      'SELECT id, fingerprint FROM nodes WHERE fingerprint = ANY($1::text[])',
      [nodes.map(({ fingerprint }) => fingerprint)],
    );
    return new Map(rows.map(({ id, fingerprint }) => [fingerprint, id]));
  }

  /** Replaces the definitions of rows. */
  async rewrite(tx: EntityManager, nodes: readonly NodeRow[]): Promise<void> {
    if (nodes.length === 0) return;
    const parameters = await this.parameters(nodes);
    const ids = nodes.map(({ id }) => id);
    await lockNodes(tx, ids);
    await tx.query(UPDATE, [ids, ...parameters]);
  }

  /** Deletes those of the nodes that no subscription contains and no user added; returns how many. */
  async deleteOrphans(tx: EntityManager, ids: readonly number[]): Promise<number> {
    if (ids.length === 0) return 0;
    await lockNodes(tx, ids);
    const [, count]: [unknown, number] = await tx.query(
      `DELETE FROM nodes WHERE id = ANY($1::bigint[]) AND source = 'subscription'
         AND NOT EXISTS (SELECT 1 FROM node_sources WHERE node_id = nodes.id)`,
      [ids],
    );
    return count;
  }

  isSame(row: SealedNode, node: ProxyNode): boolean {
    // A stored definition that does not open counts as different and is written again.
    return JSON.stringify(this.vault.tryOpen(row)) === JSON.stringify(node);
  }

  private async parameters(nodes: readonly NodeRow[]): Promise<unknown[][]> {
    const rows = await mapInSlices(nodes, (entry) => this.row(entry));
    return COLUMNS.map((_column, index) => rows.map((row) => row[index]));
  }

  /** In the order of COLUMNS. */
  private row({ id, fingerprint, node }: NodeRow): unknown[] {
    const { type, server, port, network, tls, udp, sni, cipher } = describeNode(node);
    const { country, source } = guessCountry(node.name, node.server, this.countries.lookup);
    const config = this.vault.seal(id, node);
    return [fingerprint, node.name, type, server, port, network, tls, udp, sni, cipher, config, country, source];
  }
}
