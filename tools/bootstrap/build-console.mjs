import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PlainFailure } from './failure.mjs';
import { fingerprintOf } from './fingerprint.mjs';
import { OWN, ROOT } from './layout.mjs';
import { lastLines, runLogged } from './run-logged.mjs';

const STAMP = join(OWN, 'console-stamp');
const FOLDER = 'apps/console';

/** What besides `src` the pages are made of. */
export const CONSOLE_FILES = ['vite.config.mjs', 'proxy.html'];

function fingerprint(root) {
  const own = [...CONSOLE_FILES, 'package.json', 'tsconfig.json'].map((name) => join(root, FOLDER, name));
  return fingerprintOf({
    files: [join(root, 'package-lock.json'), ...own],
    folders: [join(root, FOLDER, 'src'), join(root, 'libs/contracts/src')],
  });
}

export function hasConsole(root = ROOT) {
  return existsSync(join(root, FOLDER, 'dist/site/proxy.html'));
}

function isCurrent(root, stamp) {
  try {
    return hasConsole(root) && readFileSync(STAMP, 'utf8') === stamp;
  } catch {
    return false; // never built here
  }
}

/** Bundles the pages of the consoles with Vite, unless nothing they are made of has changed. */
export async function buildConsole(runtime, root = ROOT) {
  const stamp = fingerprint(root);
  if (isCurrent(root, stamp)) return;
  const logFile = join(OWN, 'logs', 'build-console.log');
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  const code = await runLogged(runtime, [vite, 'build', '--config', join(root, FOLDER, 'vite.config.mjs')], {
    cwd: root,
    env: { ...process.env, NODE_ENV: 'production' },
    logFile,
  });
  if (code !== 0) {
    const advice = [...lastLines(logFile, 20), `Full output: ${logFile}`];
    throw new PlainFailure('the console could not be built:', { advice });
  }
  mkdirSync(OWN, { recursive: true });
  writeFileSync(STAMP, stamp);
}
