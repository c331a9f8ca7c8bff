import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { ROOT } from '../../bootstrap/layout.mjs';
import { withDatabase } from '../database/with-database.js';
import { readPlatformSettings } from '../supervisor/platform-settings.js';
import { serviceEnvironment } from '../supervisor/service-environment.js';
import { serviceProgram } from '../supervisor/service-program.js';

const run = promisify(execFile);
const TIMEOUT_MS = 120_000;

/** `npm run seed:demo`: an application, users, titles and shares to try resource-sharing with; the same again every time. */
export async function seedDemoCommand(args: string[]): Promise<number> {
  const script = serviceProgram('resource-sharing', 'seed-demo');
  if (!existsSync(script)) throw new PlainFailure('resource-sharing is not built: npm run build.');
  const output = await withDatabase(process.env, { needsStopped: false }, (url) => seed(url, script, args));
  process.stdout.write(output);
  return 0;
}

async function seed(url: string, script: string, args: string[]): Promise<string> {
  const env = serviceEnvironment(process.env, readPlatformSettings(process.env), url);
  const options = { env, cwd: ROOT, timeout: TIMEOUT_MS, maxBuffer: 1024 * 1024 };
  try {
    const { stdout } = await run(process.execPath, [script, ...args], options);
    return stdout;
  } catch (cause) {
    const advice = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim().split('\n') : [];
    throw new PlainFailure('the demonstration could not be made.', { advice, cause });
  }
}
