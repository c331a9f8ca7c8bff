/**
 * The whole platform on a PostgreSQL that is not ours, as an ordinary role that owns its database: the oldest version that is
 * promised, on the oldest Node that services are promised to run on, and the newest behind PgBouncer. `npm run runtimes` does the
 * same with all versions in between.
 */
import { execFile } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withClient } from '@gatehouse/persistence';
import {
  makeCertificate,
  type PostgresServer,
  type PostgresServerOptions,
  programEnvironment,
  startPgBouncer,
  startPostgres,
} from '@gatehouse/testing';
import { afterEach, beforeEach, describe, expect, it, type TestContext } from 'vitest';
import { tableFingerprints } from '../backup/table-fingerprints.js';
import { requirePeer } from '../support/peers.js';
import { freePorts, LaunchedPlatform, processesOf, ROOT, temporaryHome } from './launched-platform.js';

const run = promisify(execFile);
/** What docs/operations.md says that one platform needs; its role gets no more. */
const CONNECTIONS = 45;
const EVERYTHING = process.env['GATEHOUSE_TEST_RUNTIMES'] === 'all';
/** Undefined: the version of the embedded one. */
const OLDEST_NODE = 'node-24';
const VERSIONS = EVERYTHING ? ['postgres-14', 'postgres-15', 'postgres-16', 'postgres-17', undefined] : ['postgres-14'];

describe('an external database', { timeout: 400_000 }, () => {
  let home: string;
  const cleanups: (() => unknown)[] = [];
  beforeEach(() => {
    home = temporaryHome('gatehouse-external-');
    cleanups.push(() => rmSync(home, { recursive: true, force: true }));
  });
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  async function postgres(context: TestContext, options: PostgresServerOptions): Promise<PostgresServer> {
    if (options.program !== undefined) requirePeer(context, options.program);
    const server = await startPostgres(options);
    cleanups.push(() => server.close());
    return server;
  }

  async function start(url: string, node: string): Promise<LaunchedPlatform> {
    const platform = new LaunchedPlatform(home, await freePorts(), { DATABASE_URL: url, GATEHOUSE_NODE: node });
    cleanups.push(async () => {
      if (platform.child.exitCode === null && platform.child.signalCode === null) await platform.stop('SIGTERM');
    });
    return platform.ready();
  }

  /** Migrates, starts, walks through everything, stops, makes a backup, and puts it back. */
  async function walkThrough(url: string, node = process.execPath): Promise<void> {
    const platform = await start(url, node);
    const env = programEnvironment({ GATEHOUSE_HOME: home, DATABASE_URL: url });
    const command = async (...args: string[]): Promise<string> => {
      const ended = run(node, [join(ROOT, 'tools/dist/cli.js'), ...args], { env });
      return ended.then(
        ({ stdout }) => stdout,
        ({ stdout, stderr }: { stdout: string; stderr: string }) => stdout + stderr,
      );
    };
    const tour = await command('tour');
    expect(tour).toMatch(/Everything was as it should be/);
    expect(tour).not.toContain('FAIL');
    expect((await platform.stop('SIGINT')).code).toBe(0);
    expect(processesOf(home)).toEqual([]);
    const backup = join(home, 'backup.gz');
    expect(await command('backup', backup)).toMatch(/^Saved [\d,]+ rows/m);
    const saved = await withClient(url, tableFingerprints);
    await withClient(url, (client) => client.query('DELETE FROM proxy_gateway.traffic_logs'));
    expect(await command('restore', backup, '--force')).toMatch(/^Restored\./m);
    expect(await withClient(url, tableFingerprints)).toEqual(saved);
  }

  /** As two replicas of each service that start at once: they take turns, and neither does what the other has done. */
  async function migrateTwice(url: string, node: string): Promise<void> {
    const env = programEnvironment({ GATEHOUSE_HOME: home, DATABASE_URL: url });
    const scripts = ['proxy-gateway', 'resource-sharing', 'tunnel-gateway'].flatMap((service) => {
      const script = join(ROOT, 'apps', service, 'bundle/migrate.js');
      return [script, script];
    });
    await Promise.all(scripts.map((script) => run(node, [script], { env })));
    const { rows } = await withClient(url, (client) =>
      client.query<{ name: string }>(
        `SELECT name FROM resource_sharing.migrations GROUP BY name HAVING count(*) > 1
         UNION ALL SELECT name FROM proxy_gateway.migrations GROUP BY name HAVING count(*) > 1
         UNION ALL SELECT name FROM tunnel_gateway_ops.migrations GROUP BY name HAVING count(*) > 1`,
      ),
    );
    expect(rows).toEqual([]);
  }

  for (const program of VERSIONS) {
    const runtime = program === 'postgres-14' ? OLDEST_NODE : undefined;
    it(`carries the platform over TLS on ${program ?? 'the embedded version'}${runtime === undefined ? '' : ` with ${runtime}`}`, async (context) => {
      const node = runtime === undefined ? process.execPath : requirePeer(context, runtime);
      const authority = makeCertificate({ subject: 'Databases', ca: true });
      const tls = makeCertificate({ subject: 'database', names: ['127.0.0.1'], issuer: authority });
      const file = join(home, 'authority.pem');
      writeFileSync(file, authority.certificate);
      const server = await postgres(context, { program, tls, connectionLimit: CONNECTIONS });
      const url = `${server.url}?sslmode=verify-full&sslrootcert=${file}`;
      await migrateTwice(url, node);
      await walkThrough(url, node);
      const stored = `SELECT attstorage FROM pg_attribute
        WHERE attrelid = 'proxy_gateway.traffic_log_sections'::regclass AND attname = 'grams'`;
      expect(await withClient(url, async (client) => (await client.query(stored)).rows)).toEqual([{ attstorage: 'e' }]);
    });
  }

  it('carries the platform behind a PgBouncer that pools sessions', async (context) => {
    const program = requirePeer(context, 'pgbouncer');
    const { url } = await postgres(context, { connectionLimit: CONNECTIONS });
    const bouncer = await startPgBouncer({ program, url, mode: 'session' });
    cleanups.push(() => bouncer.close());
    await walkThrough(bouncer.url);
  });
});
