import { requireLauncherNode } from './bootstrap/node-version.mjs';

requireLauncherNode();
const { reportFailure } = await import('./bootstrap/failure.mjs');
try {
  const { runTests } = await import('./bootstrap/run-tests.mjs');
  process.exitCode = await runTests(process.argv.slice(2));
} catch (error) {
  process.exitCode = reportFailure(error);
}
