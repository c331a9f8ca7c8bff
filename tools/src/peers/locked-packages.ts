import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../bootstrap/layout.mjs';
import { findNpm, npmEnvironment } from '../../bootstrap/npm.mjs';

const run = promisify(execFile);
const INSTALL_LIMIT_MS = 10 * 60_000;
const FILES = ['package.json', 'package-lock.json'];

/** Where `tools/peers/<name>` says what is installed, with a digest of every package. */
const lockedIn = (name: string): string => join(ROOT, 'tools', 'peers', name);

/** Whether `target` has what `tools/peers/<name>` asks for. npm writes its own record last: what failed half way has none. */
export function isInstalled(name: string, target: string): boolean {
  try {
    readFileSync(join(target, 'node_modules', '.package-lock.json'));
    return FILES.every((file) => readFileSync(join(target, file)).equals(readFileSync(join(lockedIn(name), file))));
  } catch {
    return false; // not there
  }
}

/** Installs the packages of `tools/peers/<name>` into `target`, or leaves nothing there. No script of a package is run. */
export async function installLocked(name: string, target: string): Promise<void> {
  rmSync(target, { recursive: true, force: true });
  try {
    mkdirSync(target, { recursive: true });
    for (const file of FILES) copyFileSync(join(lockedIn(name), file), join(target, file));
    await npmCi(target);
  } catch (error) {
    rmSync(target, { recursive: true, force: true });
    throw error;
  }
}

async function npmCi(folder: string): Promise<void> {
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  try {
    await run(process.execPath, [findNpm(), 'ci', ...options], {
      cwd: folder,
      env: npmEnvironment(),
      timeout: INSTALL_LIMIT_MS,
    });
  } catch (cause) {
    const text = cause instanceof Error && 'stderr' in cause ? String(cause.stderr) : String(cause);
    throw new Error(`npm ci: ${text.trim().split('\n')[0] ?? ''}`, { cause });
  }
}
