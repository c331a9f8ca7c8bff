import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../../bootstrap/layout.mjs';
import { findNpm, npmEnvironment } from '../../bootstrap/npm.mjs';
import type { Command } from '../command.js';
import { AGENT_OUT, agentVersion, writeAgentPackage } from './agent-folder.js';

/** `npm run agent:package [-- --out FOLDER]`: the npm package of the agent as a folder and as a file, ready for `npm publish`. */
export const agentPackageCommand: Command = async (args) => {
  const { values } = parseArgs({ args, options: { out: { type: 'string' } } });
  const out = resolve(values.out ?? AGENT_OUT);
  const folder = join(out, 'package');
  mkdirSync(out, { recursive: true });
  writeAgentPackage(ROOT, folder);
  const pack = [findNpm(), 'pack', folder, '--pack-destination', out, '--silent', '--offline'];
  execFileSync(process.execPath, pack, { env: npmEnvironment(), stdio: ['ignore', 'ignore', 'inherit'] });
  process.stdout.write(`${join(out, `gatehouse-agent-${agentVersion(ROOT)}.tgz`)}\n`);
  return 0;
};
