import { requireLauncherNode } from './bootstrap/node-version.mjs';

requireLauncherNode();
const { PlainFailure, reportFailure } = await import('./bootstrap/failure.mjs');
try {
  const { COMMANDS, commandList } = await import('./bootstrap/names.mjs');
  const { prepare } = await import('./bootstrap/prepare.mjs');
  const { launch } = await import('./bootstrap/launch.mjs');
  const [name, ...args] = process.argv.slice(2);
  if (name === undefined || name === 'help' || name === '--help') {
    process.stdout.write(`${commandList()}\n`);
  } else if (!Object.hasOwn(COMMANDS, name)) {
    throw new PlainFailure(`there is no command "${name}".`, { advice: commandList().split('\n') });
  } else {
    const runtime = await prepare({ wantsBuild: COMMANDS[name].wantsBuild });
    if (name === 'check' || name === 'format') {
      const { runCheck, runFormat } = await import('./bootstrap/check.mjs');
      process.exitCode = await (name === 'check' ? runCheck(runtime) : runFormat(runtime));
    } else if (name === 'runtimes') {
      const { runRuntimes } = await import('./bootstrap/run-tests.mjs');
      process.exitCode = await runRuntimes(runtime, args);
    } else if (name !== 'build') {
      process.exitCode = await launch(runtime, name, args);
    }
  }
} catch (error) {
  process.exitCode = reportFailure(error);
}
