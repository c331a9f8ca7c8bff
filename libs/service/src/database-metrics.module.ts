import { pgPool } from '@gatehouse/persistence';
import { MetricsRegistry } from '@gatehouse/platform';
import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** The database connections of requests and jobs: how many are in use, and whether work waits for one. */
@Module({})
export class DatabaseMetricsModule {
  constructor(metrics: MetricsRegistry, dataSource: DataSource) {
    const pool = pgPool(dataSource);
    const connections = metrics.gauge('gatehouse_database_connections', 'Connections to the database, by state', [
      'state',
    ]);
    const most = metrics.gauge(
      'gatehouse_database_connections_max',
      'The most connections that requests and jobs open',
    );
    const waiting = metrics.gauge('gatehouse_database_waiting', 'Requests and jobs that wait for a connection');
    const waits = metrics.counter(
      'gatehouse_database_waits_total',
      'How often a connection became free while a request or job waited for one',
    );
    // The pool gives the connection to the one that waits longest after this event.
    pool.on('release', () => {
      if (pool.waitingCount > 0) waits.inc();
    });
    metrics.onScrape(() => {
      connections.set({ state: 'in_use' }, pool.totalCount - pool.idleCount);
      connections.set({ state: 'idle' }, pool.idleCount);
      most.set(pool.options.max);
      waiting.set(pool.waitingCount);
      return Promise.resolve();
    });
  }
}
