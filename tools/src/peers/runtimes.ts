import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../bootstrap/layout.mjs';
import type { PeerResult } from './bring-peers.js';
import { installLocked, isInstalled } from './locked-packages.js';

const SET = 'runtimes';
const SYSTEM = `${process.platform}-${process.arch}`;

/** A program that is promised to work with ours, in a version of its own, and where its package has it. */
interface Runtime {
  /** Its name in the folder of peers, such as `node-20.19.0`. */
  program: string;
  file: string;
}

/** The versions of Node that an agent is promised to run with, and the oldest PostgreSQL: `tools/peers/runtimes` names them. */
export function promisedRuntimes(): Runtime[] {
  const manifest = JSON.parse(readFileSync(join(ROOT, 'tools', 'peers', SET, 'package.json'), 'utf8')) as {
    optionalDependencies: Record<string, string>;
  };
  return Object.keys(manifest.optionalDependencies)
    .filter((alias) => alias.endsWith(`-${SYSTEM}`))
    .map((alias) => {
      const program = alias.slice(0, -SYSTEM.length - 1);
      const file = program.startsWith('node-') ? 'bin/node' : 'native/bin/postgres';
      return { program, file: join('node_modules', alias, file) };
    });
}

/** Old and new versions of Node and the oldest PostgreSQL, from the npm registry, as links among the peers. */
export async function bringRuntimes(folder: string, onProgress: (text: string) => void): Promise<PeerResult[]> {
  const target = join(folder, SET);
  const wanted = promisedRuntimes();
  const wereThere = isInstalled(SET, target);
  if (!wereThere) {
    onProgress(`bringing ${wanted.map(({ program }) => program).join(', ')} from the npm registry`);
    try {
      await installLocked(SET, target);
    } catch (error) {
      const detail = error instanceof Error ? error.message : String(error);
      return wanted.map(({ program }) => ({ program, state: 'missing', detail }));
    }
  }
  return wanted.map(({ program, file }) => {
    const detail = join(target, file);
    const problem = problemOf(detail);
    if (problem !== undefined) return { program, state: 'missing', detail: problem };
    link(join(folder, 'bin'), program, detail);
    return { program, state: wereThere ? 'found' : 'brought', detail };
  });
}

function problemOf(file: string): string | undefined {
  if (!existsSync(file)) return `${file} is missing: remove the folder of peers and bring them again`;
  // The server needs links to its libraries, which are made when it is started.
  if (!file.endsWith('/node')) return undefined;
  try {
    execFileSync(file, ['--version'], { stdio: 'ignore', timeout: 20_000 });
    return undefined;
  } catch (error) {
    return (error as Error).message.split('\n')[0] ?? 'it does not run';
  }
}

/** A link, not a script: what is started is the program itself, and its folder can be found from it. */
function link(bin: string, program: string, target: string): void {
  mkdirSync(bin, { recursive: true });
  const draft = join(bin, `.${program}.${process.pid}`);
  rmSync(draft, { force: true });
  symlinkSync(target, draft);
  renameSync(draft, join(bin, program));
}
