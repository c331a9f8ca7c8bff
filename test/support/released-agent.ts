import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** Of 0.1.0: the commit that gave the changelog its first release. */
const RELEASE = '9fa196a51d647047c149d0af35361551aeb552c0';
const FOLDER = path.join(ROOT, '.gatehouse', 'previous', `agent-${RELEASE.slice(0, 12)}`);
/** What its file is made of. */
const PARTS = ['apps/tunnel-agent', 'libs', 'package.json', 'tsconfig.base.json', 'tsconfig.pure.json'];

/** The agent of 0.1.0, made from its commit in a few seconds and kept; null: this copy of the repository has no history. */
export async function releasedAgent(): Promise<string | null> {
  const file = path.join(FOLDER, 'gatehouse-agent.mjs');
  if (existsSync(file)) return file;
  if (!(await hasRelease())) return null;
  mkdirSync(FOLDER, { recursive: true });
  const draft = mkdtempSync(path.join(FOLDER, 'draft-'));
  try {
    await build(draft);
    renameSync(path.join(draft, 'apps/tunnel-agent/dist/gatehouse-agent.mjs'), file);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return file;
}

async function hasRelease(): Promise<boolean> {
  return run('git', ['cat-file', '-e', `${RELEASE}^{commit}`], { cwd: ROOT }).then(
    () => true,
    () => false,
  );
}

/** The libraries are those of the release, other packages those of this build, which are in a folder above. */
async function build(folder: string): Promise<void> {
  await run('git', ['archive', '-o', path.join(folder, 'release.tar'), RELEASE, ...PARTS], { cwd: ROOT });
  await run('tar', ['-xf', 'release.tar'], { cwd: folder });
  const own = path.join(folder, 'node_modules/@gatehouse');
  mkdirSync(own, { recursive: true });
  for (const name of readdirSync(path.join(folder, 'libs'))) symlinkSync(`../../libs/${name}`, path.join(own, name));
  const vite = path.join(ROOT, 'node_modules/vite/bin/vite.js');
  const config = path.join(folder, 'apps/tunnel-agent/vite.config.mjs');
  await run(process.execPath, [vite, 'build', '--config', config], { cwd: folder });
}
