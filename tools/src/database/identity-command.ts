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
const USAGE = 'npm run tunnel:identity -- prepare | exchange';
const AFTERWARDS: Readonly<Record<string, string>> = {
  prepare: 'Restart tunnel-gateway: agents that connect then learn the next key. When all have, run the step exchange.',
  exchange: 'Restart tunnel-gateway: it has this key then. Agents that do not know it need a new key string.',
};

/** `npm run tunnel:identity -- prepare | exchange`: exchanges the key that agents know the tunnel gateway by, in two steps. */
export async function identityCommand([step = '', ...rest]: string[]): Promise<number> {
  const afterwards = AFTERWARDS[step];
  if (afterwards === undefined || rest.length > 0) throw new PlainFailure('say one step.', { advice: [USAGE] });
  const lines = await withDatabase(process.env, { mustExist: true }, (url) => perform(step, url));
  for (const line of [...lines, afterwards]) process.stdout.write(`${line}\n`);
  return 0;
}

async function perform(step: string, url: string): Promise<string[]> {
  const env = serviceEnvironment(process.env, readPlatformSettings(process.env), url);
  const script = join(ROOT, 'apps', 'tunnel-gateway', 'dist', 'exchange-identity.js');
  try {
    const { stdout } = await run(process.execPath, [script, step], { env, cwd: ROOT, timeout: STEP_TIMEOUT_MS });
    return stdout.trim().split('\n');
  } catch (cause) {
    const output = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim().split('\n') : [];
    throw new PlainFailure(`the step ${step} failed.`, { advice: output, cause });
  }
}
