import { compareReleases, type ReleasedMigration } from '@gatehouse/persistence';
import type { MigrationInterface } from 'typeorm';
import { expect } from 'vitest';

/** The first release that asks. It knows all migrations before it, so they need not say anything. */
const FIRST = '0.2.0';

/**
 * Asserts that every migration after `last` says which older releases work with the schema after it. `last`: the newest one
 * of the first release that asks. `release`: the present one; before that first release nothing is asked of new ones.
 */
export function expectOldestReleases(
  migrations: readonly (new () => MigrationInterface)[],
  { last, release }: { last: new () => MigrationInterface; release: string },
): void {
  const isEarlier = compareReleases(release, FIRST) < 0;
  const later = migrations.slice(migrations.indexOf(last) + 1).map((Migration) => new Migration());
  const silent = later.filter((migration) => {
    const { oldestRelease = isEarlier ? release : '' } = migration as Partial<ReleasedMigration>;
    return !/^\d+\.\d+\.\d+$/.test(oldestRelease) || compareReleases(oldestRelease, release) > 0;
  });
  const names = silent.map(({ name, constructor }) => name ?? constructor.name);
  expect(
    names,
    `each needs an oldestRelease that exists: see ReleasedMigration. \`last\` is the newest one of ${FIRST}`,
  ).toEqual([]);
}
