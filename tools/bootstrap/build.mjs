import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildHelp, isHelpBuilt } from './build-help.mjs';
import { areServicesBundled, bundleServices } from './build-services.mjs';
import { BUNDLE_FILES, buildBundles, hasBundles, hasContent } from './build-bundles.mjs';
import { PlainFailure } from './failure.mjs';
import { fingerprintOf } from './fingerprint.mjs';
import { OWN, ROOT, projectFolders } from './layout.mjs';
import { startStep } from './progress.mjs';
import { lastLines, runLogged } from './run-logged.mjs';
import { localized } from './language.mjs';

const STAMP = join(OWN, 'build-stamp');
/** Vite's output folder, which Vite empties itself. */
const SITE = join(ROOT, 'apps/console/dist/site');
/** What `npm run docs` makes. */
const HELP = join(ROOT, 'apps/console/dist/help');

const SHARED = ['tsconfig.json', 'tsconfig.base.json', 'tsconfig.nest.json', 'tsconfig.pure.json', 'package-lock.json'];

/** A value that changes with any source or project file. */
function fingerprint(root) {
  const projects = projectFolders(root).map((folder) => join(root, folder));
  const files = projects.flatMap((folder) =>
    ['tsconfig.json', 'package.json', ...BUNDLE_FILES].map((name) => join(folder, name)),
  );
  return fingerprintOf({
    files: [...SHARED.map((name) => join(root, name)), ...files],
    folders: projects.map((folder) => join(folder, 'src')),
  });
}

/** Type checks only: what it runs as is a bundle. */
const WITHOUT_OUTPUT = ['apps/console'];

/** Whether each source has a compiled file with something in it. Stat calls only, as for the fingerprint. */
function isWhole(source, output) {
  return readdirSync(source, { withFileTypes: true }).every((entry) => {
    if (entry.isDirectory()) return isWhole(join(source, entry.name), join(output, entry.name));
    const stem = /^(.+)(?<!\.spec|\.d)\.ts$/.exec(entry.name)?.[1];
    return stem === undefined || hasContent(join(output, `${stem}.js`));
  });
}

function hasOutput(root, folder) {
  if (!existsSync(join(root, folder, 'dist', '.tsbuildinfo'))) return false;
  return WITHOUT_OUTPUT.includes(folder) || isWhole(join(root, folder, 'src'), join(root, folder, 'dist'));
}

/** Projects whose compiled files are not all there, as folders. */
export function incompleteProjects(root = ROOT) {
  return projectFolders(root).filter((folder) => !hasOutput(root, folder));
}

/** The compiler believes its own record of what it wrote; without it, it writes everything again. */
function forgetIncomplete(root) {
  for (const folder of incompleteProjects(root)) {
    rmSync(join(root, folder, 'dist', '.tsbuildinfo'), { force: true });
  }
}

export function isBuilt(root = ROOT) {
  try {
    return (
      incompleteProjects(root).length === 0 &&
      hasBundles(root) &&
      isHelpBuilt(root) &&
      areServicesBundled(root) &&
      readFileSync(STAMP, 'utf8') === fingerprint(root)
    );
  } catch {
    return false; // no stamp yet, or a source vanished while we looked
  }
}

/** Deletes compiled files whose source is gone; a removed migration or handler must not live on in dist. */
function removeOrphans(source, output) {
  if (!existsSync(output)) return;
  for (const entry of readdirSync(output, { withFileTypes: true })) {
    const compiled = join(output, entry.name);
    if (compiled === SITE || compiled === HELP) continue;
    if (entry.isDirectory()) {
      if (existsSync(join(source, entry.name))) removeOrphans(join(source, entry.name), compiled);
      else rmSync(compiled, { recursive: true, force: true });
      continue;
    }
    const stem = /^(.+?)(?:\.js|\.d\.ts|\.js\.map)$/.exec(entry.name)?.[1];
    if (stem !== undefined && !existsSync(join(source, `${stem}.ts`))) rmSync(compiled, { force: true });
  }
}

async function compile(runtime, root) {
  const logFile = join(OWN, 'logs', 'build.log');
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  const code = await runLogged(runtime, [compiler, '-b', '--pretty', 'false'], {
    cwd: root,
    env: process.env,
    logFile,
  });
  if (code !== 0) {
    throw new PlainFailure(localized('the build failed:', '构建失败：'), {
      advice: [...lastLines(logFile, 20), localized(`Full output: ${logFile}`, `完整输出：${logFile}`)],
    });
  }
}

/** Brings every dist up to date. The stamp is taken before, so that an edit during the build is built next time. */
export async function build(runtime, root = ROOT) {
  const stamp = fingerprint(root);
  const step = startStep(localized('Building', '构建'));
  try {
    for (const folder of projectFolders(root)) removeOrphans(join(root, folder, 'src'), join(root, folder, 'dist'));
    forgetIncomplete(root);
    // Both to their end: an error of one must not leave the other running.
    const outcomes = await Promise.allSettled([compile(runtime, root), buildBundles(runtime, root)]);
    for (const { reason } of outcomes.filter(({ status }) => status === 'rejected')) throw reason;
    await bundleServices(runtime, root);
    await buildHelp(runtime, root);
  } catch (error) {
    step.fail();
    throw error;
  }
  mkdirSync(OWN, { recursive: true });
  writeFileSync(STAMP, stamp);
  step.end();
}
