import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { localized } from '../../bootstrap/language.mjs';
import { ROOT } from '../../bootstrap/layout.mjs';
import { readPlatformSettings } from '../supervisor/platform-settings.js';
import { serviceEnvironment } from '../supervisor/service-environment.js';
import { serviceProgram } from '../supervisor/service-program.js';
import { SERVICES } from '../supervisor/service-list.js';
import { runningState } from '../supervisor/state-file.js';
import { secretKeysOf, secretKeyText } from './secret-keys.js';
import { withDatabase } from './with-database.js';

const run = promisify(execFile);
const ROTATE_TIMEOUT_MS = 3_600_000;
const USAGE = 'npm run secrets:rotate [-- --new-key | --drop-old-keys]';
const ONE_KEY = localized(
  'There is one secret key. What it sealed stays; what an earlier version sealed gets its id.',
  '只有一个密钥。用它加密的内容保持不变；旧版本加密的内容将标上它的 ID。',
);

/**
 * `npm run secrets:rotate [-- --new-key | --drop-old-keys]`: without a switch it seals everything again with the newest of the
 * secret keys, while the platform runs or not. The switches change `secret.key` of the home.
 */
export async function rotateSecretsCommand(args: string[]): Promise<number> {
  const { newKey, dropOld } = readSwitches(args);
  const { home } = readPlatformSettings(process.env);
  const keys = secretKeysOf(process.env, home);
  if (keys.length === 0) {
    throw new PlainFailure(
      localized(`there is no secret key in ${home}: nothing is sealed yet.`, `${home} 中没有密钥：尚无加密内容。`),
    );
  }
  if (newKey) return addKey(home, keys);
  if (keys.length === 1) say(ONE_KEY);
  refuseOldKeysInUse(home);
  for (const line of await withDatabase(process.env, { mustExist: true }, (url) => sealAgain(url))) say(`  ${line}`);
  if (dropOld) return dropOldKeys(home, keys);
  say(localized('Everything is sealed with the newest key.', '所有内容均已用最新密钥加密。'));
  if (keys.length > 1) say(afterwards());
  return 0;
}

function readSwitches(args: string[]): { newKey: boolean; dropOld: boolean } {
  try {
    const options = { 'new-key': { type: 'boolean' }, 'drop-old-keys': { type: 'boolean' } } as const;
    const { values } = parseArgs({ args, options });
    const switches = { newKey: values['new-key'] === true, dropOld: values['drop-old-keys'] === true };
    if (switches.newKey && switches.dropOld) {
      throw new TypeError(localized('These are two steps: say one of them.', '这是两个步骤，请只指定其中一个。'));
    }
    return switches;
  } catch (cause) {
    throw new PlainFailure((cause as Error).message, { advice: [USAGE], cause });
  }
}

/** Services read their keys when they start: what a new key seals before that, they could not open. */
function addKey(home: string, keys: readonly Buffer[]): number {
  refuseForeignKeys('--new-key');
  const state = runningState(home);
  if (state !== undefined) {
    throw new PlainFailure(
      localized(
        `Gatehouse runs in ${home} (pid ${state.pid}); it reads its keys when it starts.`,
        `Gatehouse 正在 ${home} 中运行（进程 ${state.pid}），它只在启动时读取密钥。`,
      ),
      {
        advice: [
          localized(
            `Stop it (Ctrl-C, or kill ${state.pid}), repeat, start it, and run npm run secrets:rotate.`,
            `请停止它（Ctrl-C，或 kill ${state.pid}），重试本命令，再启动并运行 npm run secrets:rotate。`,
          ),
        ],
      },
    );
  }
  writeKeys(home, [randomBytes(32), ...keys]);
  say(
    localized(
      `${keyFile(home)} has a new key before the ${keys.length === 1 ? 'one' : `${keys.length}`} that it had.`,
      `已在 ${keyFile(home)} 原有的 ${keys.length} 个密钥之前加入新密钥。`,
    ),
  );
  say(
    localized(
      'Start the platform (npm start), then seal everything with it: npm run secrets:rotate',
      '请启动平台（npm start），再用新密钥重新加密所有内容：npm run secrets:rotate',
    ),
  );
  return 0;
}

function dropOldKeys(home: string, keys: readonly Buffer[]): number {
  refuseForeignKeys('--drop-old-keys');
  writeKeys(home, keys.slice(0, 1));
  say(
    localized(
      `Everything is sealed with the newest key, and ${keyFile(home)} holds no other.`,
      `所有内容均已用最新密钥加密，${keyFile(home)} 中只保留该密钥。`,
    ),
  );
  say(
    localized(
      'Backups from before need the keys that were in it: keep those with them.',
      '此前的备份仍需要其中原有的密钥：请将它们与备份一同保存。',
    ),
  );
  return 0;
}

function refuseForeignKeys(option: string): void {
  if (!fromEnvironment()) return;
  throw new PlainFailure(
    localized(
      `${option} changes secret.key of the home, but the keys come from GATEHOUSE_SECRET_KEYS.`,
      `${option} 修改数据目录中的 secret.key，但密钥来自 GATEHOUSE_SECRET_KEYS。`,
    ),
    {
      advice: [
        localized(
          'Set the variable yourself: the new key (openssl rand -base64 32), a comma, and the old one.',
          '请自行设置该变量：新密钥（openssl rand -base64 32）、逗号、旧密钥。',
        ),
      ],
    },
  );
}

function refuseOldKeysInUse(home: string): void {
  const state = runningState(home);
  if (state === undefined || fromEnvironment()) return;
  const started = statSync(`/proc/${state.pid}`, { throwIfNoEntry: false })?.ctimeMs ?? Infinity;
  if (statSync(keyFile(home)).mtimeMs <= started) return;
  throw new PlainFailure(
    localized(
      `the platform in ${home} was started before its secret.key was changed.`,
      `${home} 中的平台在 secret.key 更改之前启动。`,
    ),
    {
      advice: [
        localized(
          'Restart it, so that it can open what is sealed with the new key, and repeat.',
          '请重启它，使其能打开用新密钥加密的内容，然后重试。',
        ),
      ],
    },
  );
}

async function sealAgain(url: string): Promise<string[]> {
  const settings = readPlatformSettings(process.env);
  const env = serviceEnvironment(process.env, settings, url);
  const lines: string[] = [];
  for (const { name } of SERVICES) {
    const script = serviceProgram(name, 'rotate-secrets');
    try {
      const { stdout } = await run(process.execPath, [script], { env, cwd: ROOT, timeout: ROTATE_TIMEOUT_MS });
      lines.push(...stdout.trim().split('\n'));
    } catch (cause) {
      const output = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim().split('\n') : [];
      throw new PlainFailure(
        localized(
          `not everything of ${name} could be sealed with the newest key.`,
          `${name} 的部分内容无法用最新密钥重新加密。`,
        ),
        { advice: output, cause },
      );
    }
  }
  return lines;
}

function writeKeys(home: string, keys: readonly Buffer[]): void {
  const file = keyFile(home);
  const { uid, gid } = statSync(file);
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${keys.map((key) => key.toString('base64')).join('\n')}\n`, { mode: 0o600, flag: 'wx' });
  if (process.getuid?.() === 0) chownSync(draft, uid, gid);
  renameSync(draft, file);
  if (readFileSync(file, 'utf8').trim().split('\n').length !== keys.length) throw new Error(`${file} was not written.`);
}

function keyFile(home: string): string {
  return join(home, 'secret.key');
}

function fromEnvironment(): boolean {
  return secretKeyText(process.env) !== undefined;
}

function afterwards(): string {
  return fromEnvironment()
    ? localized(
        'The older keys can leave GATEHOUSE_SECRET_KEYS. Keep them with the backups that were made with them.',
        '旧密钥可以从 GATEHOUSE_SECRET_KEYS 中移除，但请与用它们创建的备份一同保存。',
      )
    : localized(
        'To remove the older keys from secret.key: npm run secrets:rotate -- --drop-old-keys',
        '从 secret.key 中移除旧密钥：npm run secrets:rotate -- --drop-old-keys',
      );
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
