import { readFileSync } from 'node:fs';
import { LAYER_POOL_SIZE, POOL_SIZE } from '@gatehouse/persistence';
import { describe, expect, it } from 'vitest';
import { readWorkspace } from './read-workspace.js';

/** PostgreSQL's default `max_connections` less `superuser_reserved_connections`. */
const FREE = 97;
const LISTENER = 1;
const EDGE_DATABASE = 'apps/tunnel-gateway/src/common/edge-database.ts';
const REPLICAS = 2;
/** All SQL files of BullMQ. */
const BULLMQ_SQL = '../../node_modules/bullmq/dist/esm/postgres/sql-scripts.js';

/** Where services open connections that stay; everything else closes its own after a piece of work. */
const OPENED_IN = [
  EDGE_DATABASE,
  'libs/jobs/src/postgres-store.ts',
  'libs/persistence/src/data-source.ts',
  'libs/persistence/src/layered-pool.ts',
  'libs/persistence/src/pg-listener.ts',
];
/** One connection, closed after a piece of work. */
const CLOSED_AT_ONCE = [
  'libs/persistence/src/embedded-postgres/server-process.ts',
  'libs/persistence/src/embedded-postgres/start-embedded-postgres.ts',
  'libs/persistence/src/pg-client.ts',
];

const sources = [...readWorkspace().files].filter(
  ([file]) =>
    /^(?:apps|libs)\/[^/]+\/src\//.test(file) && !file.endsWith('.spec.ts') && !file.startsWith('libs/testing/'),
);
const filesWith = (pattern: RegExp): string[] =>
  sources.flatMap(([file, text]) => (pattern.test(text) ? [file] : [])).toSorted();

/** An app's modules are its own; the number is read where it is set. */
function edgePoolSize(): number {
  const [, text = ''] = sources.find(([file]) => file === EDGE_DATABASE) ?? [];
  return Number(/^const EDGE_POOL_SIZE = (\d+);$/m.exec(text)?.[1]);
}

/**
 * What the processes of one replica open at most: every service has the foundation of `defineService`, whose queues use the pool
 * of the service, and perhaps a layer.
 */
function mostOf(service: string): number {
  const [, text = ''] = sources.find(([file]) => file === `apps/${service}/src/service.ts`) ?? [];
  if (!text.includes('defineService(')) throw new Error(`apps/${service}/src/service.ts defines no service`);
  const layer = /^ {4}layer: /m.test(text) ? LAYER_POOL_SIZE : 0;
  return POOL_SIZE + LISTENER + layer;
}

describe('connections to PostgreSQL', () => {
  const most = {
    'proxy-gateway': mostOf('proxy-gateway'),
    'tunnel-gateway': mostOf('tunnel-gateway'),
    edge: edgePoolSize() + LISTENER,
    'resource-sharing': mostOf('resource-sharing'),
  };
  const one = Object.values(most).reduce((sum, count) => sum + count, 0);

  it('of two replicas of every service fit into PostgreSQL’s default limit', () => {
    expect(one * REPLICAS).toBeLessThanOrEqual(FREE);
  });

  it('are opened only in the counted places, with the counted sizes', () => {
    const opened = filesWith(/new (?:pg\.)?Pool\(|new pg\.Client\(|new DataSource\(/);
    expect(opened).toEqual([...OPENED_IN, ...CLOSED_AT_ONCE].toSorted());
    expect(filesWith(/\bpoolSize: (?!1\b|config\.)/)).toEqual([]);
    // Otherwise a service would have more than its foundation.
    expect(filesWith(/\b(?:Persistence|Jobs)Module\.forRoot\(/).filter((file) => file.startsWith('apps/'))).toEqual([]);
    expect(filesWith(/new PgListener\(/)).toEqual([
      'libs/jobs/src/postgres-store.ts',
      'libs/persistence/src/persistence.module.ts',
    ]);
  });

  it('find no table of a service in place of one of the queues', () => {
    const tables = (text: string): string[] =>
      [...text.matchAll(/CREATE TABLE (?:IF NOT EXISTS )?(?:[\w"]+\.)?"?(\w+)"?/gi)].flatMap(([, name]) => name ?? []);
    const queues = tables(readFileSync(new URL(BULLMQ_SQL, import.meta.url), 'utf8'));
    const services = sources.flatMap(([, text]) => tables(text));
    expect(queues).toContain('job');
    expect(services).toContain('job_outbox');
    expect(services.filter((name) => queues.includes(name))).toEqual([]);
  });

  it.each([
    [
      'docs/operations.md',
      "the tunnel's edge",
      `needs ${one}, and two replicas of each service need ${one * REPLICAS}.`,
    ],
    ['docs/zh-CN/operations.md', '隧道的 edge', `需要 ${one} 个，每个服务两个副本需要 ${one * REPLICAS} 个。`],
  ])('match the numbers in %s', (file, edge, together) => {
    const page = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
    const inAll = (name: string): number => Number(new RegExp(`^\\| ${name}.*\\| (\\d+) \\|$`, 'm').exec(page)?.[1]);
    expect({
      'proxy-gateway': inAll('`proxy-gateway`'),
      'tunnel-gateway': inAll('`tunnel-gateway`'),
      edge: inAll(edge),
      'resource-sharing': inAll('`resource-sharing`'),
    }).toEqual(most);
    expect(page).toContain(together);
  });
});
