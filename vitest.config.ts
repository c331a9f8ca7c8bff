import { availableParallelism } from 'node:os';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

const tests = {
  pool: 'forks',
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

/**
 * Libraries as they are built, loaded by Node: from source, each worker would have their modules compiled for seconds. `npm test`
 * builds first.
 */
const builtLibraries = {
  ssr: { resolve: { conditions: ['node'] } },
} satisfies Pick<TestProjectInlineConfiguration, 'ssr'>;
const loadedByNode = { server: { deps: { external: [/\/libs\/[^/]+\/dist\//] } } };

/** Each file starts services of its own in its process, on a database of its own, and ends them. */
const SERVICES = 'apps/{proxy-gateway,resource-sharing,tunnel-gateway}/{src,test}/**/*.{spec,e2e-spec}.ts';

/** Each file starts programs: built services, browsers, programs of others. */
const PROGRAMS = 'test/**/*.e2e-spec.ts';

export default defineConfig({
  test: {
    globalSetup: ['libs/testing/src/global-setup.ts'],
    // Tests wait for processes and networks for more than half of their time.
    maxWorkers: availableParallelism() + 3,
    // Vitest runs projects by name: short files at the end leave no worker without work while another is busy for a minute.
    projects: [
      { ...builtLibraries, test: { ...tests, ...loadedByNode, name: 'programs', include: [PROGRAMS] } },
      {
        ...builtLibraries,
        test: {
          ...tests,
          ...loadedByNode,
          name: 'services',
          include: [SERVICES],
          setupFiles: ['libs/testing/src/cheap-hashes.ts'],
        },
      },
      {
        test: {
          ...tests,
          name: 'units',
          include: ['{libs,apps}/*/{src,test}/**/*.{spec,e2e-spec}.ts', '{tools/src,test}/**/*.spec.ts'],
          exclude: [SERVICES],
        },
      },
    ],
  },
});
