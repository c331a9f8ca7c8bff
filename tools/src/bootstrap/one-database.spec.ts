import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import type * as TypeOrm from 'typeorm';
import { expect, it, onTestFinished } from 'vitest';
import { OWN } from '../../bootstrap/layout.mjs';
import { oneDatabase } from '../../bootstrap/one-database.mjs';

it('leaves TypeORM a driver for PostgreSQL, and no other', async () => {
  // Below the repository: what is bundled needs its packages.
  const folder = mkdtempSync(join(OWN, 'one-database-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'main.mjs'), `export { DataSource } from 'typeorm';`);
  const build = await rolldown({
    input: join(folder, 'main.mjs'),
    platform: 'node',
    plugins: [oneDatabase()],
    onLog: (level, log, handle) => {
      if (log.code !== 'UNRESOLVED_IMPORT') handle(level, log);
    },
  });
  const { output } = await build.write({ dir: join(folder, 'out'), entryFileNames: 'main.mjs' });
  await build.close();
  const runners = Object.keys(output[0].modules).filter((id) => /[\\/]driver[\\/].*QueryRunner\.js$/.test(id));
  expect(runners.map((id) => id.replace(/^.*[\\/]/, ''))).toEqual(['PostgresQueryRunner.js']);
  const { DataSource } = (await import(/* @vite-ignore */ join(folder, 'out/main.mjs'))) as typeof TypeOrm;
  expect(new DataSource({ type: 'postgres' }).options.type).toBe('postgres');
  expect(() => new DataSource({ type: 'mysql' })).toThrow('The bundle has no MysqlDriver.');
});
