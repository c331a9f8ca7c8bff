import { join } from 'node:path';
import { build, isBuilt } from './build.mjs';
import { adoptInstalledTree, areDependenciesInstalled, installDependencies } from './dependencies.mjs';
import { OWN, ROOT } from './layout.mjs';
import { findRuntime, installRuntime } from './runtime.mjs';
import { takeTurn } from './take-turn.mjs';
import { ensureWritable } from './writable.mjs';
import { localized } from './language.mjs';

function readyRuntime(wantsBuild) {
  const runtime = findRuntime();
  if (runtime === undefined || !areDependenciesInstalled()) return undefined;
  return !wantsBuild || isBuilt() ? runtime : undefined;
}

async function prepareUnderLock(wantsBuild) {
  const runtime = findRuntime() ?? (await installRuntime());
  if (!areDependenciesInstalled() && !adoptInstalledTree()) await installDependencies(runtime);
  if (wantsBuild && !isBuilt()) await build(runtime);
  return runtime;
}

/**
 * Makes sure that the runtime, the dependencies and (if wanted) the build are there and current, and returns the Node
 * binary to work with. When nothing is missing it only looks, takes no lock and writes nothing.
 */
export async function prepare({ wantsBuild = true } = {}) {
  const ready = readyRuntime(wantsBuild);
  if (ready !== undefined) return ready;
  ensureWritable(
    [ROOT, OWN, join(OWN, 'logs')],
    localized('something has to be installed or built there', '需要在其中安装或构建'),
  );
  const lock = await takeTurn(join(OWN, 'prepare.lock'), localized('installs or builds', '安装或构建'));
  try {
    return await prepareUnderLock(wantsBuild);
  } finally {
    lock.release();
  }
}
