import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { peerOrSkip, startPostgres, type PostgresServer } from '@gatehouse/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { withDatabase } from './with-database.js';

describe('the database that a command works with', () => {
  const home = mkdtempSync(join(tmpdir(), 'gatehouse-with-database-'));
  let server: PostgresServer | undefined;
  afterAll(async () => {
    await server?.close();
    rmSync(home, { recursive: true });
  });

  it('is refused with its version and the one that is needed when it is too old', async (context) => {
    if (peerOrSkip('postgres-13') === undefined) context.skip('postgres-13 is not installed: npm run peers');
    server = await startPostgres({ program: 'postgres-13' });
    const env = { DATABASE_URL: server.url, GATEHOUSE_HOME: home };
    // As a backup and a restore ask for it.
    for (const needs of [{ mustExist: true }, { needsStopped: true }]) {
      const error = await withDatabase(env, needs, () => Promise.resolve('used')).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(PlainFailure);
      expect((error as Error).message).toMatch(
        /^DATABASE_URL: the database is PostgreSQL 13\.\d+, and PostgreSQL 14 or later is needed$/,
      );
    }
  });
});
