import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { OWN, ROOT } from '../../bootstrap/layout.mjs';

const run = promisify(execFile);
const LOCK = 'package-lock.json';

/** The folder with the build of a commit, made once: a work tree of its own below the platform's own folder. */
export async function buildPrevious(ref: string, say: (line: string) => void): Promise<string> {
  const { stdout } = await run('git', ['rev-parse', '--verify', `${ref}^{commit}`], { cwd: ROOT }).catch(() => {
    throw new PlainFailure(`--previous: git knows no commit ${ref}.`);
  });
  const commit = stdout.trim();
  const folder = join(OWN, 'previous', commit.slice(0, 12));
  if (!existsSync(folder)) await run('git', ['worktree', 'add', '--detach', folder, commit], { cwd: ROOT });
  say(`building ${commit.slice(0, 12)} in ${folder} ...`);
  if (!existsSync(join(folder, 'node_modules'))) await install(folder);
  await run('npm', ['run', 'build', '--silent'], { cwd: folder, maxBuffer: 1 << 24 });
  return folder;
}

/** Packages do not change between two builds, so those with the same lock file share them. */
async function install(folder: string): Promise<void> {
  const same = readFileSync(join(folder, LOCK), 'utf8') === readFileSync(join(ROOT, LOCK), 'utf8');
  if (same) await run('cp', ['-al', join(ROOT, 'node_modules'), join(folder, 'node_modules')]);
  else await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, maxBuffer: 1 << 24 });
}
