import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from '../../bootstrap/layout.mjs';
import { findNpm, npmEnvironment } from '../../bootstrap/npm.mjs';
import type { PeerResult } from './bring-peers.js';

const run = promisify(execFile);
const INSTALL_LIMIT_MS = 5 * 60_000;
const PACKAGE = 'oidc-provider';
/** What is installed, with a digest of every package. */
const LOCKED = join(ROOT, 'tools', 'peers', PACKAGE);
const FILES = ['package.json', 'package-lock.json'];

/**
 * node-oidc-provider in a folder of its own: `npm run peers -- --oidc-provider`. It is measured beside the service and is
 * no dependency of it. No script of a package is run.
 */
export async function bringNodePeer(folder: string, onProgress: (text: string) => void): Promise<PeerResult> {
  const target = join(folder, PACKAGE);
  const detail = join(target, 'node_modules', PACKAGE);
  if (isInstalled(target)) return { program: PACKAGE, state: 'found', detail };
  try {
    onProgress(`bringing ${PACKAGE} from the npm registry`);
    rmSync(target, { recursive: true, force: true });
    mkdirSync(target, { recursive: true });
    for (const file of FILES) copyFileSync(join(LOCKED, file), join(target, file));
    await npmCi(target);
    return { program: PACKAGE, state: 'brought', detail };
  } catch (error) {
    rmSync(target, { recursive: true, force: true });
    return { program: PACKAGE, state: 'missing', detail: error instanceof Error ? error.message : String(error) };
  }
}

/** npm writes its own record last: what failed half way has none. */
function isInstalled(target: string): boolean {
  try {
    readFileSync(join(target, 'node_modules', '.package-lock.json'));
    return FILES.every((file) => readFileSync(join(target, file)).equals(readFileSync(join(LOCKED, file))));
  } catch {
    return false; // not there
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
