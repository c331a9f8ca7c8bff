import { notify, UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { KERNEL_CONFIG_CHANNEL } from '../kernel-config-channel.js';
import { lockNodes } from '../nodes/lock-nodes.js';
import type { DecidedCountry, ExitFinding, PlacedNode } from './country-facts.js';

/** The values to write for one node. */
export interface CountryChange {
  id: number;
  /** Undefined: not asked. Null: no answer; the known values stay. */
  exit: ExitFinding | null | undefined;
  decided: DecidedCountry;
}

const SELECT = `
  SELECT id, original_name AS name, server, country, country_source AS "countrySource", exit_ip AS "exitIp",
    exit_country AS "exitCountry"
  FROM nodes WHERE $1::bigint[] IS NULL OR id = ANY($1::bigint[]) ORDER BY id`;

/** A country that a user chose while the detection ran is kept. */
const UPDATE = `
  UPDATE nodes SET
    exit_checked_at = CASE WHEN entry.asked THEN now() ELSE exit_checked_at END,
    exit_ip = coalesce(entry.exit_ip, nodes.exit_ip),
    exit_country = CASE WHEN entry.exit_ip IS NULL THEN nodes.exit_country ELSE entry.exit_country END,
    exit_asn = CASE WHEN entry.exit_ip IS NULL THEN nodes.exit_asn ELSE entry.exit_asn END,
    country = CASE WHEN nodes.country_source = 'manual' THEN nodes.country ELSE entry.country END,
    country_source = CASE WHEN nodes.country_source = 'manual' THEN 'manual' ELSE entry.source END
  FROM unnest($1::bigint[], $2::boolean[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::text[])
    AS entry (id, asked, exit_ip, exit_country, exit_asn, country, source)
  WHERE nodes.id = entry.id`;

/** Living nodes whose exit was never looked up, or a long time ago. */
const SELECT_DUE = `
  SELECT node.id FROM nodes node
  JOIN node_health health ON health.node_id = node.id AND health.test_url = '' AND health.alive
  WHERE node.enabled
    AND (node.exit_checked_at IS NULL OR node.exit_checked_at < now() - make_interval(hours => $1))
  ORDER BY node.exit_checked_at NULLS FIRST, node.id LIMIT $2`;

@Injectable()
export class CountryStore {
  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  nodes(ids?: readonly number[]): Promise<PlacedNode[]> {
    return this.dataSource.query(SELECT, [ids ?? null]);
  }

  async due(maxAgeHours: number, limit: number): Promise<number[]> {
    const rows: { id: number }[] = await this.dataSource.query(SELECT_DUE, [maxAgeHours, limit]);
    return rows.map(({ id }) => id);
  }

  /** Nodes that failed their last test. */
  async dead(): Promise<Set<number>> {
    const rows: { node_id: number }[] = await this.dataSource.query(
      `SELECT node_id FROM node_health WHERE test_url = '' AND NOT alive`,
    );
    return new Set(rows.map(({ node_id }) => node_id));
  }

  /** @param regroup whether a country changed, so that the country groups have to change too. */
  async write(changes: readonly CountryChange[], regroup: boolean): Promise<void> {
    if (changes.length === 0) return;
    await this.unitOfWork.run(async (tx) => {
      await lockNodes(
        tx,
        changes.map(({ id }) => id),
      );
      await tx.query(UPDATE, [
        changes.map(({ id }) => id),
        changes.map(({ exit }) => exit !== undefined),
        changes.map(({ exit }) => exit?.ip ?? null),
        changes.map(({ exit }) => exit?.country ?? null),
        changes.map(({ exit }) => exit?.asn ?? null),
        changes.map(({ decided }) => decided.country),
        changes.map(({ decided }) => decided.source),
      ]);
      if (regroup) await notify(tx, KERNEL_CONFIG_CHANNEL, '');
    });
  }
}
