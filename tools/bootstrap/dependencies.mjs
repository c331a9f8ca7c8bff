import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PlainFailure } from './failure.mjs';
import { OWN, ROOT } from './layout.mjs';
import { findNpm, npmEnvironment } from './npm.mjs';
import { startStep } from './progress.mjs';
import { lastLines, runLogged } from './run-logged.mjs';
import { localized } from './language.mjs';

function stampFile(root) {
  return join(root, 'node_modules', '.gatehouse-lock-hash');
}

function lockHash(root) {
  const file = join(root, 'package-lock.json');
  if (!existsSync(file)) {
    throw new PlainFailure(localized(`${file} is missing.`, `缺少 ${file}。`), {
      advice: [
        localized(
          'Restore it (git checkout package-lock.json) and start again.',
          '请恢复该文件（git checkout package-lock.json）后重新启动。',
        ),
      ],
    });
  }
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

/** True when npm's own record of what it installed agrees with package-lock.json: someone ran npm by hand, and that is fine. */
function matchesInstalledTree(root) {
  try {
    const wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
    const installed = JSON.parse(readFileSync(join(root, 'node_modules', '.package-lock.json'), 'utf8')).packages;
    return Object.entries(wanted).every(([path, entry]) => {
      if (path === '' || !path.includes('node_modules/')) return true;
      const present = installed[path];
      if (present === undefined) return Boolean(entry.optional || entry.devOptional);
      if (entry.link) return existsSync(join(root, path, 'package.json'));
      return (
        present.version === entry.version &&
        present.integrity === entry.integrity &&
        existsSync(join(root, path, 'package.json'))
      );
    });
  } catch {
    return false; // no record, or an unreadable one: install
  }
}

/** True when every package that npm installed is still there: a part of node_modules may have been deleted. */
function isTreeWhole(root) {
  const { packages } = JSON.parse(readFileSync(join(root, 'node_modules', '.package-lock.json'), 'utf8'));
  return Object.keys(packages)
    .filter((path) => path.includes('node_modules/'))
    .every((path) => existsSync(join(root, path, 'package.json')));
}

/** True when node_modules is what package-lock.json asks for. */
export function areDependenciesInstalled(root = ROOT) {
  const hash = lockHash(root);
  try {
    return readFileSync(stampFile(root), 'utf8') === hash && isTreeWhole(root);
  } catch {
    return false; // never installed by these scripts, or the record of it is gone
  }
}

/** Accepts a tree that npm installed without our help; true when it did. */
export function adoptInstalledTree(root = ROOT) {
  if (!matchesInstalledTree(root)) return false;
  writeFileSync(stampFile(root), lockHash(root));
  return true;
}

export async function installDependencies(runtime, root = ROOT) {
  const hash = lockHash(root);
  const npm = findNpm();
  const logFile = join(OWN, 'logs', 'install.log');
  const step = startStep(localized('Installing dependencies with npm ci', '使用 npm ci 安装依赖'));
  try {
    const code = await runLogged(runtime, [npm, 'ci', '--include=dev', '--no-audit', '--no-fund', '--prefix', root], {
      cwd: root,
      env: { ...npmEnvironment(), NODE_ENV: 'development' },
      logFile,
    });
    if (code !== 0) {
      throw new PlainFailure(
        localized(
          `the dependencies could not be installed: npm ci ended with code ${code}`,
          `依赖安装失败：npm ci 退出码为 ${code}`,
        ),
        {
          advice: [
            ...lastLines(logFile),
            localized(`Full output: ${logFile}`, `完整输出：${logFile}`),
            localized(
              'Mend what it says (often the network or the disk) and start again.',
              '请按提示处理（通常是网络或磁盘问题）后重新启动。',
            ),
          ],
        },
      );
    }
  } catch (error) {
    step.fail();
    throw error;
  }
  writeFileSync(stampFile(root), hash);
  step.end();
}
