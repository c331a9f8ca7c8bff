import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { ROOT } from '../../bootstrap/layout.mjs';
import { readPlatformSettings } from '../supervisor/platform-settings.js';
import { serviceEnvironment } from '../supervisor/service-environment.js';
import { withDatabase } from './with-database.js';

const run = promisify(execFile);
const STEP_TIMEOUT_MS = 60_000;
const USAGE = 'npm run tunnel:identity -- prepare | exchange [DAYS] | retire | status';
const AFTERWARDS: Readonly<Record<string, string>> = {
  prepare: 'Restart tunnel-gateway: agents that connect then learn the next key. When all have, run the step exchange.',
  exchange:
    'Restart tunnel-gateway: it shows this key then. Agents that know only the former key are shown that one, and learn the new one.',
  retire: 'Restart tunnel-gateway: agents that know only the former key are refused then and need a new key string.',
  status: '',
};

/** `npm run tunnel:identity -- …`: exchanges the key that agents know the tunnel gateway by, in steps. */
export async function identityCommand([step = '', ...rest]: string[]): Promise<number> {
  const afterwards = AFTERWARDS[step];
  if (afterwards === undefined || rest.length > (step === 'exchange' ? 1 : 0))
    throw new PlainFailure('say one step.', { advice: [USAGE] });
  const lines = await withDatabase(process.env, { mustExist: true }, (url) => perform([step, ...rest], url));
  for (const line of afterwards === '' ? lines : [...lines, afterwards]) process.stdout.write(`${line}\n`);
  return 0;
}

async function perform(args: string[], url: string): Promise<string[]> {
  const env = serviceEnvironment(process.env, readPlatformSettings(process.env), url);
  const script = join(ROOT, 'apps', 'tunnel-gateway', 'dist', 'exchange-identity.js');
  try {
    const { stdout } = await run(process.execPath, [script, ...args], { env, cwd: ROOT, timeout: STEP_TIMEOUT_MS });
    return stdout.trim().split('\n');
  } catch (cause) {
    const output = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim().split('\n') : [];
    throw new PlainFailure(`the step ${args[0]} failed.`, { advice: output, cause });
  }
}
