import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PlainFailure } from './failure.mjs';
import { OWN, ROOT, projectFolders } from './layout.mjs';
import { startStep } from './progress.mjs';
import { lastLines, runLogged } from './run-logged.mjs';

const STAMP = join(OWN, 'build-stamp');

function addTree(folder, lines) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) addTree(path, lines);
    else if (!entry.name.endsWith('.spec.ts')) addFile(path, lines);
  }
}

function addFile(path, lines) {
  const { size, mtimeMs } = statSync(path);
  lines.push(`${path} ${size} ${mtimeMs}`);
}

/** A value that changes with any source or project file. Stat calls only: a few milliseconds for the whole workspace. */
function fingerprint(root) {
  const lines = [];
  for (const name of [
    'tsconfig.json',
    'tsconfig.base.json',
    'tsconfig.nest.json',
    'tsconfig.pure.json',
    'package-lock.json',
  ]) {
    if (existsSync(join(root, name))) addFile(join(root, name), lines);
  }
  for (const folder of projectFolders(root)) {
    for (const name of ['tsconfig.json', 'package.json']) {
      if (existsSync(join(root, folder, name))) addFile(join(root, folder, name), lines);
    }
    if (existsSync(join(root, folder, 'src'))) addTree(join(root, folder, 'src'), lines);
  }
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

function hasAllOutputs(root) {
  return projectFolders(root).every((folder) => existsSync(join(root, folder, 'dist', '.tsbuildinfo')));
}

export function isBuilt(root = ROOT) {
  try {
    return hasAllOutputs(root) && readFileSync(STAMP, 'utf8') === fingerprint(root);
  } catch {
    return false; // no stamp yet, or a source vanished while we looked
  }
}

/** Deletes compiled files whose source is gone; a removed migration or handler must not live on in dist. */
function removeOrphans(source, output) {
  if (!existsSync(output)) return;
  for (const entry of readdirSync(output, { withFileTypes: true })) {
    const compiled = join(output, entry.name);
    if (entry.isDirectory()) {
      if (existsSync(join(source, entry.name))) removeOrphans(join(source, entry.name), compiled);
      else rmSync(compiled, { recursive: true, force: true });
      continue;
    }
    const stem = /^(.+?)(?:\.js|\.d\.ts|\.js\.map)$/.exec(entry.name)?.[1];
    if (stem !== undefined && !existsSync(join(source, `${stem}.ts`))) rmSync(compiled, { force: true });
  }
}

/** Brings every dist up to date. The stamp is taken before, so that an edit during the build is built next time. */
export async function build(runtime, root = ROOT) {
  const stamp = fingerprint(root);
  const logFile = join(OWN, 'logs', 'build.log');
  const step = startStep('Building');
  try {
    for (const folder of projectFolders(root)) removeOrphans(join(root, folder, 'src'), join(root, folder, 'dist'));
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const code = await runLogged(runtime, [compiler, '-b', '--pretty', 'false'], {
      cwd: root,
      env: process.env,
      logFile,
    });
    if (code !== 0) {
      throw new PlainFailure('the build failed:', { advice: [...lastLines(logFile, 20), `Full output: ${logFile}`] });
    }
  } catch (error) {
    step.fail();
    throw error;
  }
  mkdirSync(OWN, { recursive: true });
  writeFileSync(STAMP, stamp);
  step.end();
}
