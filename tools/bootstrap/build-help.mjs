import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PlainFailure } from './failure.mjs';
import { fingerprintOf } from './fingerprint.mjs';
import { OWN, ROOT } from './layout.mjs';
import { localized } from './language.mjs';
import { lastLines, runLogged } from './run-logged.mjs';

const STAMP = join(OWN, 'help-stamp');
const OUTPUT = 'apps/console/dist/help/index.html';

/** A value that changes with any page, with what renders them, and with the files that they load. */
function fingerprint(root) {
  const pages = [
    'README.md',
    'README.zh-CN.md',
    'CONTRIBUTING.md',
    'CONTRIBUTING.zh-CN.md',
    'CHANGELOG.md',
    'libs/sharing-client/package.json',
  ];
  const made = ['apps/console/dist/site/.vite/manifest.json', OUTPUT];
  return fingerprintOf({
    files: [...pages, ...made].map((name) => join(root, name)),
    folders: [
      join(root, 'docs'),
      join(root, 'tools/src/docs'),
      join(root, 'libs/sharing-client/src'),
      join(root, 'libs/sharing-client/python'),
    ],
  });
}

export function isHelpBuilt(root = ROOT) {
  try {
    return readFileSync(STAMP, 'utf8') === fingerprint(root);
  } catch {
    return false; // never built here
  }
}

/** Renders the documentation that the services show, where a page or what renders it has changed. */
export async function buildHelp(runtime, root = ROOT) {
  if (isHelpBuilt(root)) return;
  const logFile = join(OWN, 'logs', 'build-help.log');
  const code = await runLogged(runtime, [join(root, 'tools/dist/cli.js'), 'docs'], {
    cwd: root,
    env: process.env,
    logFile,
  });
  if (code !== 0) {
    throw new PlainFailure(localized('the documentation could not be built:', '文档构建失败：'), {
      advice: [...lastLines(logFile, 20), localized(`Full output: ${logFile}`, `完整输出：${logFile}`)],
    });
  }
  mkdirSync(OWN, { recursive: true });
  writeFileSync(STAMP, fingerprint(root));
}
