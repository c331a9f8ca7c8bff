/**
 * The whole platform on a PostgreSQL that is not ours, as an ordinary role that owns its database: the oldest version that is
 * promised, and the newest behind PgBouncer. `npm run runtimes` does the same with all versions in between.
 */
import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { withClient } from '@gatehouse/persistence';
import { startPgBouncer, startPostgres, type PostgresServer } from '@gatehouse/testing';
import { afterEach, beforeEach, describe, expect, it, type TestContext } from 'vitest';
import { requirePeer } from '../support/peers.js';
import { freePorts, LaunchedPlatform, processesOf, ROOT, temporaryHome } from './launched-platform.js';

const run = promisify(execFile);
const EVERYTHING = process.env['GATEHOUSE_RUNTIMES'] === 'all';
/** Undefined: the version of the embedded one. */
const VERSIONS = EVERYTHING ? ['postgres-14', 'postgres-15', 'postgres-16', 'postgres-17', undefined] : ['postgres-14'];

describe('an external database', { timeout: 120_000 }, () => {
  let home: string;
  const cleanups: (() => unknown)[] = [];
  beforeEach(() => {
    home = temporaryHome('gatehouse-external-');
    cleanups.push(() => rmSync(home, { recursive: true, force: true }));
  });
  afterEach(async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
  });

  async function postgres(context: TestContext, program?: string): Promise<PostgresServer> {
    if (program !== undefined) requirePeer(context, program);
    const server = await startPostgres({ program });
    cleanups.push(() => server.close());
    return server;
  }

  async function start(url: string): Promise<LaunchedPlatform> {
    const platform = new LaunchedPlatform(home, await freePorts(), { DATABASE_URL: url });
    cleanups.push(async () => {
      if (platform.child.exitCode === null && platform.child.signalCode === null) await platform.stop('SIGTERM');
    });
    return platform.ready();
  }

  /** Migrates, starts, walks through everything, stops. */
  async function walkThrough(url: string): Promise<void> {
    const platform = await start(url);
    const env = { PATH: process.env['PATH'], GATEHOUSE_HOME: home, DATABASE_URL: url };
    const tour = run(process.execPath, [join(ROOT, 'tools/dist/cli.js'), 'tour'], { env });
    const { stdout } = await tour.catch((error: { stdout: string }) => error);
    expect(stdout).toMatch(/Everything was as it should be/);
    expect(stdout).not.toContain('FAIL');
    expect((await platform.stop('SIGINT')).code).toBe(0);
    expect(processesOf(home)).toEqual([]);
  }

  for (const program of VERSIONS) {
    it(`carries the platform where it is ${program ?? 'of the version of the embedded one'}`, async (context) => {
      const { url } = await postgres(context, program);
      await walkThrough(url);
      const stored = `SELECT attstorage FROM pg_attribute
        WHERE attrelid = 'proxy_gateway.traffic_log_sections'::regclass AND attname = 'grams'`;
      expect(await withClient(url, async (client) => (await client.query(stored)).rows)).toEqual([{ attstorage: 'e' }]);
    });
  }

  it('carries the platform behind a PgBouncer that pools sessions', async (context) => {
    const program = requirePeer(context, 'pgbouncer');
    const { url } = await postgres(context);
    const bouncer = await startPgBouncer({ program, url, mode: 'session' });
    cleanups.push(() => bouncer.close());
    await walkThrough(bouncer.url);
  });
});
