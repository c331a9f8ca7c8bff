import { existsSync, realpathSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { PlainFailure } from './failure.mjs';
import { localized } from './language.mjs';

// Set by an npm that runs us, and wrong for the npm that we run: they would move the installation or leave things out.
const INHERITED = [
  'npm_config_local_prefix',
  'npm_config_prefix',
  'npm_config_global',
  'npm_config_location',
  'npm_config_workspace',
  'npm_config_workspaces',
  'npm_config_include_workspace_root',
  'npm_config_omit',
  'npm_config_only',
  'npm_config_production',
  'npm_config_dry_run',
];

function candidates() {
  const beside = dirname(process.execPath);
  const found = [process.env.npm_execpath ?? ''];
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    if (folder !== '') found.push(join(folder, 'npm'), join(folder, 'node_modules/npm/bin/npm-cli.js'));
  }
  found.push(join(beside, '../lib/node_modules/npm/bin/npm-cli.js'), join(beside, 'node_modules/npm/bin/npm-cli.js'));
  return found;
}

/** Where npm's own JavaScript is, so that it can be run by a Node of our choice and without a shell. */
export function findNpm() {
  for (const candidate of candidates()) {
    if (candidate === '' || !existsSync(candidate)) continue;
    const file = realpathSync(candidate);
    if (basename(file) === 'npm-cli.js') return file;
  }
  throw new PlainFailure(localized('npm was not found.', '未找到 npm。'), {
    advice: [
      localized(
        'Install Node.js together with npm (https://nodejs.org) and start again.',
        '请安装包含 npm 的 Node.js（https://nodejs.org）后重新启动。',
      ),
    ],
  });
}

export function npmEnvironment() {
  const environment = { ...process.env };
  for (const name of Object.keys(environment)) {
    if (INHERITED.includes(name.toLowerCase())) delete environment[name];
  }
  return environment;
}
