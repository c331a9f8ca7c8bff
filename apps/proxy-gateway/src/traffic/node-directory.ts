import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { flowNames, nodeIdOf } from '../data/flow-names.js';
import type { FlowNames, NodeCard } from '../data/flow-names.js';

/** A new name is shown within this time. */
const FRESH_MS = 5_000;
/** An unknown node must not cause a read for each flow that names it. */
const MISS_MS = 500;
/** Deleted nodes whose names are kept for their open flows. */
const MAX_RETIRED = 10_000;

const SELECT_CARDS = `
  SELECT node.id, coalesce(node.custom_name, node.original_name) AS name, node.type, node.country, node.exit_ip,
    health.alive, health.delay_ms,
    (SELECT subscription.name FROM node_sources source
     JOIN subscriptions subscription ON subscription.id = source.subscription_id
     WHERE source.node_id = node.id ORDER BY source.subscription_id LIMIT 1) AS subscription_name
  FROM nodes node LEFT JOIN node_health health ON health.node_id = node.id AND health.test_url = ''`;

interface CardRow {
  id: number;
  name: string;
  type: string;
  country: string | null;
  exit_ip: string | null;
  alive: boolean | null;
  delay_ms: number | null;
  subscription_name: string | null;
}

/** Names and countries of all nodes, read together and kept for a few seconds. */
@Injectable()
export class NodeDirectory {
  private cards: ReadonlyMap<number, NodeCard> = new Map();
  private retired = new Map<number, NodeCard>();
  private loadedAt = -Infinity;
  /** When a lookup last found no node. */
  private missedAt = -Infinity;
  private loading: Promise<void> | null = null;

  constructor(private readonly dataSource: DataSource) {}

  /** @param tags the tags to be looked up: a node that was just added causes a new read. */
  async names(tags: Iterable<string | null> = []): Promise<FlowNames> {
    const wanted = [...tags];
    if (performance.now() - this.loadedAt > FRESH_MS) await this.load();
    if (this.isMissing(wanted) && performance.now() - this.missedAt > MISS_MS) await this.loadMissing(wanted);
    return flowNames({ get: (id) => this.cards.get(id) ?? this.retired.get(id) });
  }

  private async loadMissing(wanted: readonly (string | null)[]): Promise<void> {
    await this.loading; // it may have begun before the node was added
    if (this.isMissing(wanted)) await this.load();
    if (this.isMissing(wanted)) this.missedAt = performance.now();
  }

  private isMissing(tags: readonly (string | null)[]): boolean {
    for (const tag of tags) {
      const id = nodeIdOf(tag);
      if (id !== null && !this.cards.has(id) && !this.retired.has(id)) return true;
    }
    return false;
  }

  private load(): Promise<void> {
    this.loading ??= this.read().finally(() => {
      this.loading = null;
    });
    return this.loading;
  }

  private async read(): Promise<void> {
    const rows: CardRow[] = await this.dataSource.query(SELECT_CARDS);
    const cards = new Map(rows.map((row) => [row.id, toCard(row)]));
    for (const [id, card] of this.cards) if (!cards.has(id)) this.retire(id, card);
    this.cards = cards;
    this.loadedAt = performance.now();
  }

  private retire(id: number, card: NodeCard): void {
    this.retired.set(id, card);
    const [oldest] = this.retired.keys();
    if (this.retired.size > MAX_RETIRED && oldest !== undefined) this.retired.delete(oldest);
  }
}

function toCard(row: CardRow): NodeCard {
  return {
    id: row.id,
    name: row.name,
    type: row.type,
    country: row.country,
    subscriptionName: row.subscription_name,
    alive: row.alive,
    delayMs: row.delay_ms,
    exitIp: row.exit_ip,
  };
}
