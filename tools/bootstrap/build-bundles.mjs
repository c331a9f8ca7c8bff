import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PlainFailure } from './failure.mjs';
import { fingerprintOf } from './fingerprint.mjs';
import { OWN, ROOT } from './layout.mjs';
import { lastLines, runLogged } from './run-logged.mjs';

/** What Vite makes: `files` besides `src`, and sources of others, are what a bundle depends on. */
const BUNDLES = [
  {
    name: 'console',
    folder: 'apps/console',
    files: ['vite.config.mjs', 'proxy.html', 'tunnel.html'],
    sources: ['libs/contracts/src'],
    output: 'dist/site/tunnel.html',
  },
  {
    name: 'agent',
    folder: 'apps/tunnel-agent',
    files: ['vite.config.mjs', '../../tools/bootstrap/required-http.mjs'],
    sources: ['libs/tunnel-kernel/src', 'libs/net/src', 'libs/contracts/src'],
    output: 'dist/gatehouse-agent.mjs',
  },
];

/** Files of any bundle, relative to its folder. */
export const BUNDLE_FILES = [...new Set(BUNDLES.flatMap(({ files }) => files))];

const stampOf = ({ name }) => join(OWN, `${name}-stamp`);

function fingerprint(root, { folder, files, sources }) {
  const own = [...files, 'package.json', 'tsconfig.json'].map((name) => join(root, folder, name));
  return fingerprintOf({
    files: [join(root, 'package-lock.json'), ...own],
    folders: [join(root, folder, 'src'), ...sources.map((source) => join(root, source))],
  });
}

/** Whether a file is there with something in it: a full disk leaves empty ones. */
export function hasContent(file) {
  return (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

export function hasBundles(root = ROOT) {
  return BUNDLES.every(({ folder, output }) => hasContent(join(root, folder, output)));
}

function isCurrent(root, bundle, stamp) {
  try {
    return hasContent(join(root, bundle.folder, bundle.output)) && readFileSync(stampOf(bundle), 'utf8') === stamp;
  } catch {
    return false; // never built here
  }
}

async function buildBundle(runtime, root, bundle) {
  const stamp = fingerprint(root, bundle);
  if (isCurrent(root, bundle, stamp)) return;
  const logFile = join(OWN, 'logs', `build-${bundle.name}.log`);
  const vite = join(root, 'node_modules/vite/bin/vite.js');
  const code = await runLogged(runtime, [vite, 'build', '--config', join(root, bundle.folder, 'vite.config.mjs')], {
    cwd: root,
    env: { ...process.env, NODE_ENV: 'production' },
    logFile,
  });
  if (code !== 0) {
    const advice = [...lastLines(logFile, 20), `Full output: ${logFile}`];
    throw new PlainFailure(`the ${bundle.name} could not be built:`, { advice });
  }
  mkdirSync(OWN, { recursive: true });
  writeFileSync(stampOf(bundle), stamp);
}

/** Bundles with Vite what has changed; one after the other: each uses all processors. */
export async function buildBundles(runtime, root = ROOT) {
  for (const bundle of BUNDLES) await buildBundle(runtime, root, bundle);
}
