import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

const tests = {
  pool: 'forks',
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

const PURE_LIBRARIES =
  'libs/{child,contracts,geo,net,postgres,proxy-kernel,share-links,subscription-formats,tunnel-kernel}/src/**/*.spec.ts';

/** Each file starts services of its own in its process, on a database of its own, and ends them. */
const SERVICES = 'apps/{proxy-gateway,resource-sharing,tunnel-gateway}/{src,test}/**/*.{spec,e2e-spec}.ts';

export default defineConfig({
  test: {
    globalSetup: ['libs/testing/src/global-setup.ts'],
    // Some tests wait for time-outs and processes rather than use a core.
    maxWorkers: 3,
    projects: [
      {
        // These share processes: loading the same modules again for each file took as long as the tests. Vitest runs projects by
        // name: short files at the end leave no worker without work while another is busy for a minute.
        test: { ...tests, name: 'units', include: [PURE_LIBRARIES], isolate: false },
      },
      {
        // So do these: Nest and TypeORM again for each file were a third of their processor time.
        test: {
          ...tests,
          name: 'services',
          include: [SERVICES],
          isolate: false,
          setupFiles: ['libs/testing/src/cheap-hashes.ts'],
        },
      },
      {
        test: {
          ...tests,
          name: 'others',
          include: [
            'libs/*/src/**/*.spec.ts',
            'apps/*/{src,test}/**/*.{spec,e2e-spec}.ts',
            'tools/src/**/*.spec.ts',
            'test/**/*.{spec,e2e-spec}.ts',
          ],
          exclude: [PURE_LIBRARIES, SERVICES],
        },
      },
    ],
  },
});
