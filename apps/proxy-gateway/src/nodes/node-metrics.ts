import { MetricsRegistry } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { GENERAL_URL } from '../data/node-health.entity.js';

const NODES = `
  SELECT CASE WHEN NOT node.enabled THEN 'disabled' WHEN health.alive IS NULL THEN 'untested'
      WHEN health.alive THEN 'working' ELSE 'failing' END AS state,
    count(*)::integer AS count, count(node.circuit_open_since)::integer AS open
  FROM nodes node LEFT JOIN node_health health ON health.node_id = node.id AND health.test_url = '${GENERAL_URL}'
  GROUP BY 1`;

const SUBSCRIPTIONS = `
  SELECT CASE WHEN enabled THEN status ELSE 'disabled' END AS state, count(*)::integer AS count,
    coalesce(max(extract(epoch FROM now() - coalesce(last_success_at, created_at))) FILTER (WHERE enabled), 0)::float8 AS age
  FROM subscriptions GROUP BY 1`;

interface NodeCount {
  state: string;
  count: number;
  open: number;
}

interface SubscriptionCount {
  state: string;
  count: number;
  age: number;
}

/** How the nodes and the subscriptions are, as the database knows it: one read for each scrape. */
@Injectable()
export class NodeMetrics {
  constructor(metrics: MetricsRegistry, dataSource: DataSource) {
    const nodes = metrics.gauge('gatehouse_nodes', 'Nodes by the result of their last test', ['state']);
    const circuits = metrics.gauge(
      'gatehouse_nodes_circuit_open',
      'Nodes that the kernel pauses because dialling them failed',
    );
    const subscriptions = metrics.gauge(
      'gatehouse_subscriptions',
      'Subscriptions by the result of their last refresh',
      ['state'],
    );
    const oldest = metrics.gauge(
      'gatehouse_subscription_oldest_success_seconds',
      'Time since the last successful refresh, of the enabled subscription for which it is longest',
    );
    const read = async (): Promise<[NodeCount[], SubscriptionCount[]]> => [
      await dataSource.query<NodeCount[]>(NODES),
      await dataSource.query<SubscriptionCount[]>(SUBSCRIPTIONS),
    ];
    metrics.readOnScrape('nodes', [nodes, circuits, subscriptions, oldest], read, ([found, sources]) => {
      for (const { state, count } of found) nodes.set({ state }, count);
      circuits.set(found.reduce((sum, { open }) => sum + open, 0));
      for (const { state, count } of sources) subscriptions.set({ state }, count);
      oldest.set(Math.max(0, ...sources.map(({ age }) => age)));
    });
  }
}
