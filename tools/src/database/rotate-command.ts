import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { ROOT } from '../../bootstrap/layout.mjs';
import { readPlatformSettings } from '../supervisor/platform-settings.js';
import { serviceEnvironment } from '../supervisor/service-environment.js';
import { SERVICES } from '../supervisor/service-list.js';
import { runningState } from '../supervisor/state-file.js';
import { secretKeysOf, secretKeyText } from './secret-keys.js';
import { withDatabase } from './with-database.js';

const run = promisify(execFile);
const ROTATE_TIMEOUT_MS = 3_600_000;
const USAGE = 'npm run secrets:rotate [-- --new-key | --drop-old-keys]';

/**
 * `npm run secrets:rotate [-- --new-key | --drop-old-keys]`: without a switch it seals everything again with the newest of the
 * secret keys, while the platform runs or not. The switches change `secret.key` of the home.
 */
export async function rotateSecretsCommand(args: string[]): Promise<number> {
  const { newKey, dropOld } = readSwitches(args);
  const { home } = readPlatformSettings(process.env);
  const keys = secretKeysOf(process.env, home);
  if (keys.length === 0) throw new PlainFailure(`there is no secret key in ${home}: nothing is sealed yet.`);
  if (newKey) return addKey(home, keys);
  if (keys.length === 1)
    say('There is one secret key. What it sealed stays; what an earlier version sealed gets its id.');
  refuseOldKeysInUse(home);
  for (const line of await withDatabase(process.env, { mustExist: true }, (url) => sealAgain(url))) say(`  ${line}`);
  if (dropOld) return dropOldKeys(home, keys);
  say('Everything is sealed with the newest key.');
  if (keys.length > 1) say(afterwards());
  return 0;
}

function readSwitches(args: string[]): { newKey: boolean; dropOld: boolean } {
  try {
    const options = { 'new-key': { type: 'boolean' }, 'drop-old-keys': { type: 'boolean' } } as const;
    const { values } = parseArgs({ args, options });
    const switches = { newKey: values['new-key'] === true, dropOld: values['drop-old-keys'] === true };
    if (switches.newKey && switches.dropOld) throw new TypeError('These are two steps: say one of them.');
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
    throw new PlainFailure(`Gatehouse runs in ${home} (pid ${state.pid}); it reads its keys when it starts.`, {
      advice: [`Stop it (Ctrl-C, or kill ${state.pid}), repeat, start it, and run npm run secrets:rotate.`],
    });
  }
  writeKeys(home, [randomBytes(32), ...keys]);
  say(`${keyFile(home)} has a new key before the ${keys.length === 1 ? 'one' : `${keys.length}`} that it had.`);
  say('Start the platform (npm start), then seal everything with it: npm run secrets:rotate');
  return 0;
}

function dropOldKeys(home: string, keys: readonly Buffer[]): number {
  refuseForeignKeys('--drop-old-keys');
  writeKeys(home, keys.slice(0, 1));
  say(`Everything is sealed with the newest key, and ${keyFile(home)} holds no other.`);
  say('Backups from before need the keys that were in it: keep those with them.');
  return 0;
}

function refuseForeignKeys(option: string): void {
  if (!fromEnvironment()) return;
  throw new PlainFailure(`${option} changes secret.key of the home, but the keys come from GATEHOUSE_SECRET_KEYS.`, {
    advice: ['Set the variable yourself: the new key (openssl rand -base64 32), a comma, and the old one.'],
  });
}

function refuseOldKeysInUse(home: string): void {
  const state = runningState(home);
  if (state === undefined || fromEnvironment()) return;
  const started = statSync(`/proc/${state.pid}`, { throwIfNoEntry: false })?.ctimeMs ?? Infinity;
  if (statSync(keyFile(home)).mtimeMs <= started) return;
  throw new PlainFailure(`the platform in ${home} was started before its secret.key was changed.`, {
    advice: ['Restart it, so that it can open what is sealed with the new key, and repeat.'],
  });
}

async function sealAgain(url: string): Promise<string[]> {
  const settings = readPlatformSettings(process.env);
  const env = serviceEnvironment(process.env, settings, url);
  const lines: string[] = [];
  for (const { name } of SERVICES) {
    const script = join(ROOT, 'apps', name, 'dist', 'rotate-secrets.js');
    try {
      const { stdout } = await run(process.execPath, [script], { env, cwd: ROOT, timeout: ROTATE_TIMEOUT_MS });
      lines.push(...stdout.trim().split('\n'));
    } catch (cause) {
      const output = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim().split('\n') : [];
      throw new PlainFailure(`not everything of ${name} could be sealed with the newest key.`, {
        advice: output,
        cause,
      });
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
    ? 'The older keys can leave GATEHOUSE_SECRET_KEYS. Keep them with the backups that were made with them.'
    : 'To remove the older keys from secret.key: npm run secrets:rotate -- --drop-old-keys';
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
