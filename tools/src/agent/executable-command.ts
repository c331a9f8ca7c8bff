import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { ROOT } from '../../bootstrap/layout.mjs';
import type { Command } from '../command.js';
import { AGENT_OUT, agentBundle } from './agent-folder.js';

/** The first Node with `--build-sea`, and with modules as its main script. */
const SINCE = [25, 7] as const;
const MIB = 1024 * 1024;

/**
 * `npm run agent:executable [-- --out FOLDER]`: the agent with Node inside, for the system and processor of this machine, by
 * Node's own single-executable build.
 */
export const agentExecutableCommand: Command = async (args) => {
  const { values } = parseArgs({ args, options: { out: { type: 'string' } } });
  requireBuilder();
  const out = resolve(values.out ?? AGENT_OUT);
  mkdirSync(out, { recursive: true });
  const ending = process.platform === 'win32' ? '.exe' : '';
  const file = join(out, `gatehouse-agent-${process.platform}-${process.arch}${ending}`);
  const folder = mkdtempSync(join(out, '.making-'));
  try {
    const config = join(folder, 'config.json');
    const made = join(folder, 'made');
    writeFileSync(config, JSON.stringify(configOf(strippedNode(folder), made)));
    execFileSync(process.execPath, [`--build-sea=${config}`], { stdio: ['ignore', 'ignore', 'inherit'] });
    // Measured: the very file that the builder wrote has 99 MiB in memory when it runs, and a copy, a download, or the same
    // file read from the disk has 66. It is probably in larger pieces in the kernel's cache, of which a program gets whole ones.
    copyFileSync(made, file);
  } finally {
    rmSync(folder, { recursive: true });
  }
  process.stdout.write(`${file} (${Math.round(statSync(file).size / MIB)} MiB)\n`);
  return 0;
};

function configOf(executable: string, output: string): object {
  return {
    main: agentBundle(ROOT),
    mainFormat: 'module',
    executable,
    output,
    disableExperimentalSEAWarning: true,
    // The agent's environment is for the agent: NODE_OPTIONS of a machine may name files that are not there.
    execArgvExtension: 'none',
  };
}

/** Without the names of its functions, a fifth smaller. The same Node where `strip` is not there. */
function strippedNode(folder: string): string {
  if (process.platform !== 'linux') return process.execPath;
  const copy = join(folder, 'node');
  copyFileSync(process.execPath, copy);
  return spawnSync('strip', ['--strip-all', copy]).status === 0 ? copy : process.execPath;
}

function requireBuilder(): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > SINCE[0] || (major === SINCE[0] && minor >= SINCE[1])) return;
  throw new PlainFailure(`Node ${process.versions.node} cannot make executables.`, {
    advice: [`It takes Node ${SINCE.join('.')} or newer, such as the one that npm start installs where it can.`],
  });
}
