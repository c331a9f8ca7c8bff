import { PlainFailure, reportFailure } from '../bootstrap/failure.mjs';
import type { Command } from './command.js';

/** By the name that `tools/run.mjs` has for it. */
export const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  up: async () => (await import('./supervisor/up-command.js')).upCommand,
  dev: async () => (await import('./dev/dev-command.js')).devCommand,
  tour: async () => (await import('./tour/tour-command.js')).tourCommand,
  bench: async () => (await import('./bench/bench-command.js')).benchCommand,
  'db-url': async () => (await import('./database/commands.js')).databaseUrlCommand,
  backup: async () => (await import('./database/backup-commands.js')).backupCommand,
  restore: async () => (await import('./database/backup-commands.js')).restoreCommand,
  'tunnel-identity': async () => (await import('./database/identity-command.js')).identityCommand,
  'secrets-rotate': async () => (await import('./database/rotate-command.js')).rotateSecretsCommand,
  security: async () => (await import('./security/security-command.js')).securityCommand,
  'seed-demo': async () => (await import('./demo/seed-demo-command.js')).seedDemoCommand,
  'rehearse-staging': async () => (await import('./staging/rehearse-command.js')).rehearseCommand,
  'rehearse-scale': async () => (await import('./scale/scale-command.js')).scaleCommand,
  faults: async () => (await import('./faults/faults-command.js')).faultsCommand,
  hostile: async () => (await import('./hostile/hostile-command.js')).hostileCommand,
  replicas: async () => (await import('./replicas/replicas-command.js')).replicasCommand,
  schemas: async () => (await import('./schemas/schemas-command.js')).schemasCommand,
  conformance: async () => (await import('./standards/conformance-command.js')).conformanceCommand,
  docs: async () => (await import('./docs/docs-command.js')).docsCommand,
  'agent-executable': async () => (await import('./agent/executable-command.js')).agentExecutableCommand,
  'agent-package': async () => (await import('./agent/package-command.js')).agentPackageCommand,
  screens: async () => (await import('./screens/screens-command.js')).screensCommand,
  peers: async () => (await import('./peers/command.js')).peersCommand,
};

/** Runs a command by name and resolves with its exit code; failures are reported as plain lines. */
export async function run(name: string, args: string[]): Promise<number> {
  try {
    const load = COMMANDS[name];
    if (load === undefined) throw new PlainFailure(`there is no command "${name}".`);
    const command = await load();
    return await command(args);
  } catch (error) {
    return reportFailure(error);
  }
}
