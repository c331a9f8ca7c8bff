import type { MigrationInterface } from 'typeorm';
import { expect, it } from 'vitest';
import { expectOldestReleases } from './expect-oldest-releases.js';

const none = (): Promise<void> => Promise.resolve();
const migration = (name: string, said: object = {}): new () => MigrationInterface =>
  class {
    name = name;
    up = none;
    down = none;
    constructor() {
      Object.assign(this, said);
    }
  };

it('asks migrations after the last one of 0.2.0 for an older release that exists, and no earlier one', () => {
  const first = migration('First1');
  const grows = migration('Grows2', { oldestRelease: '0.2.0' });
  const silent = migration('Silent3');
  const early = migration('Early4', { oldestRelease: '0.4.0' });
  expectOldestReleases([first, grows], { last: first, release: '0.3.0' });
  expectOldestReleases([first, silent], { last: first, release: '0.1.0' });
  expectOldestReleases([silent, first], { last: first, release: '0.3.0' });
  expect(() => expectOldestReleases([first, silent], { last: first, release: '0.2.0' })).toThrow('Silent3');
  expect(() => expectOldestReleases([first, grows, early], { last: first, release: '0.3.0' })).toThrow('Early4');
});
