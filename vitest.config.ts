import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      'libs/*/src/**/*.spec.ts',
      'apps/*/{src,test}/**/*.{spec,e2e-spec}.ts',
      'tools/src/**/*.spec.ts',
      'test/**/*.{spec,e2e-spec}.ts',
    ],
    globalSetup: ['libs/testing/src/global-setup.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 20_000,
    hookTimeout: 60_000,
    restoreMocks: true,
    // A build machine tries a failed test once more; the summary names each one, and too many of them fail the run.
    retry: ['true', '1'].includes(process.env['CI'] ?? '') ? 1 : 0,
  },
});
