import { compareReleases, type ReleasedMigration } from '@gatehouse/persistence';
import type { MigrationInterface } from 'typeorm';
import { expect } from 'vitest';

/**
 * Asserts that every migration after `last` says which older releases work with the schema after it. `last`: the newest one
 * that says nothing, because every release that looks at this knows it. `release`: the present one.
 */
export function expectOldestReleases(
  migrations: readonly (new () => MigrationInterface)[],
  { last, release }: { last: new () => MigrationInterface; release: string },
): void {
  const later = migrations.slice(migrations.indexOf(last) + 1).map((Migration) => new Migration());
  const silent = later.filter((migration) => {
    const { oldestRelease = '' } = migration as Partial<ReleasedMigration>;
    return !/^\d+\.\d+\.\d+$/.test(oldestRelease) || compareReleases(oldestRelease, release) > 0;
  });
  const names = silent.map(({ name, constructor }) => name ?? constructor.name);
  expect(names, 'each needs an `oldestRelease` that exists: see `ReleasedMigration`').toEqual([]);
}
