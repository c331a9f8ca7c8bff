import { requireLauncherNode } from './bootstrap/node-version.mjs';

requireLauncherNode();
const { reportFailure } = await import('./bootstrap/failure.mjs');
try {
  const { prepare } = await import('./bootstrap/prepare.mjs');
  const { launch } = await import('./bootstrap/launch.mjs');
  process.exitCode = await launch(await prepare(), 'up', process.argv.slice(2));
} catch (error) {
  process.exitCode = reportFailure(error);
}
