import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, resolve } from 'node:path';
import { defineConfig, type Plugin, type TestProjectInlineConfiguration } from 'vitest/config';

/**
 * A process of tests holds some 200 MiB, and V8 goes through all of them for every few megabytes of Buffers: half of the
 * processor time of tests that carry much. So it waits until a heap is larger, and counts Buffers as a part of that.
 */
const RARE_COLLECTIONS = ['--initial-old-space-size=512', '--external-memory-accounted-in-global-limit'];

const tests = {
  pool: 'forks',
  execArgv: RARE_COLLECTIONS,
  // Files share processes: loading Nest, TypeORM and our modules again for each file took as long as the tests.
  isolate: false,
  // Longer than `waitFor` waits, which says what did not happen.
  testTimeout: 60_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 30_000 } },
  restoreMocks: true,
  // Tests read what the tools say in English, whatever the language of the terminal.
  env: { LANGUAGE: 'en' },
  // A build machine tries a failed test once more; the summary names each one, and too many of them fail the run.
  // oxlint-disable-next-line node/no-process-env -- a configuration file of a tool has no other settings
  retry: ['true', '1'].includes(process.env['CI'] ?? '') ? 1 : 0,
} satisfies TestProjectInlineConfiguration['test'];

/** The tests of a library run on its source, and on the source of those that it imports. */
const sources = {
  ssr: { resolve: { conditions: ['gatehouse-source'] } },
} satisfies Pick<TestProjectInlineConfiguration, 'ssr'>;

/**
 * Elsewhere libraries are loaded as they are built, by Node: from source, each worker would have their modules compiled for
 * seconds. `npm test` builds first.
 */
const loadedByNode = { server: { deps: { external: [/\/(?:libs|apps)\/[^/]+\/dist\//] } } };

/** Likewise the sources of services that their tests import: `apps/<service>/src/x.ts` is loaded as `dist/x.js`. */
const builtServices: Plugin = {
  name: 'built-services',
  enforce: 'pre',
  resolveId(source, importer) {
    if (importer === undefined || !source.startsWith('.')) return undefined;
    const [, service, module] = SERVICE_SOURCE.exec(resolve(dirname(importer), source)) ?? [];
    if (module === undefined) return undefined;
    const built = `${service}/dist/${module}`;
    if (!existsSync(built)) throw new Error(`${built} is missing: npm run build makes it.`);
    return built;
  },
};
const SERVICE_SOURCE = /^(.*\/apps\/(?:proxy-gateway|resource-sharing|tunnel-gateway))\/src\/(.*\.js)$/;

/** Each file starts services of its own in its process, on a database of its own, and ends them. */
const SERVICES = 'apps/{proxy-gateway,resource-sharing,tunnel-gateway}/{src,test}/**/*.{spec,e2e-spec}.ts';

/**
 * Files that start programs, which are built services, browsers and programs of others; and those of all that only imports
 * libraries, which share the processes in which these are loaded already.
 */
const PROGRAMS = [
  'test/**/*.{spec,e2e-spec}.ts',
  'tools/src/**/*.spec.ts',
  'apps/{tunnel-agent,console}/{src,test}/**/*.{spec,e2e-spec}.ts',
];

export default defineConfig({
  test: {
    globalSetup: ['libs/testing/src/global-setup.ts'],
    // Tests wait for processes and networks for more than half of their time.
    maxWorkers: availableParallelism() + 3,
    // Vitest runs projects by name: short files at the end leave no worker without work while another is busy for a minute.
    projects: [
      { test: { ...tests, ...loadedByNode, name: 'programs', include: PROGRAMS } },
      {
        plugins: [builtServices],
        test: {
          ...tests,
          ...loadedByNode,
          name: 'services',
          include: [SERVICES],
          setupFiles: ['libs/testing/src/cheap-hashes.ts'],
        },
      },
      {
        ...sources,
        test: {
          ...tests,
          name: 'units',
          include: ['libs/*/{src,test}/**/*.{spec,e2e-spec}.ts'],
        },
      },
    ],
  },
});
