import { mkdtempSync, chmodSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@gatehouse/persistence';
import type { TestProject } from 'vitest/node';
import { postgresBinaries } from './postgres-server.js';
import { temporaryRoot } from './temporary-root.js';

declare module 'vitest' {
  interface ProvidedContext {
    /** Superuser connection string of the run's own PostgreSQL. */
    postgresUrl: string;
  }
}

/**
 * One PostgreSQL for the whole run, in a folder of its own that goes away with it: the embedded one, or the one that
 * GATEHOUSE_TEST_POSTGRES names among the peers, such as `postgres-14`.
 */
export default async function globalSetup(project: TestProject): Promise<() => Promise<void>> {
  const home = mkdtempSync(join(temporaryRoot(), 'gatehouse-test-'));
  // As root the server runs as another user, which has to pass through.
  chmodSync(home, 0o711);
  const program = process.env['GATEHOUSE_TEST_POSTGRES'];
  const postgres = await startEmbeddedPostgres({
    home,
    durable: false,
    ...(program !== undefined && { binaries: postgresBinaries(program) }),
  });
  project.provide('postgresUrl', postgres.url('postgres'));
  return async () => {
    await postgres.stop();
    rmSync(home, { recursive: true, force: true });
  };
}
