import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { localized } from '../../bootstrap/language.mjs';
import { ROOT } from '../../bootstrap/layout.mjs';
import { readPlatformSettings } from '../supervisor/platform-settings.js';
import { serviceEnvironment } from '../supervisor/service-environment.js';
import { serviceProgram } from '../supervisor/service-program.js';
import { withDatabase } from './with-database.js';

const run = promisify(execFile);
const STEP_TIMEOUT_MS = 60_000;
const USAGE = 'npm run tunnel:identity -- prepare | exchange [DAYS] | retire | status';
const AFTERWARDS: Readonly<Record<string, string>> = {
  prepare: localized(
    'Restart tunnel-gateway: agents that connect then learn the next key. When all have, run the step exchange.',
    '请重启 tunnel-gateway：之后连接的客户端会获知下一个密钥。全部获知后，再执行 exchange。',
  ),
  exchange: localized(
    'Restart tunnel-gateway: it shows this key then. Agents that know only the former key are shown that one, and learn the new one.',
    '请重启 tunnel-gateway：之后它出示此密钥。只知道旧密钥的客户端仍会看到旧密钥，并由此获知新密钥。',
  ),
  retire: localized(
    'Restart tunnel-gateway: agents that know only the former key are refused then and need a new key string.',
    '请重启 tunnel-gateway：之后只知道旧密钥的客户端将被拒绝，需要新的密钥字符串。',
  ),
  status: '',
};

/** `npm run tunnel:identity -- …`: exchanges the key that agents know the tunnel gateway by, in steps. */
export async function identityCommand([step = '', ...rest]: string[]): Promise<number> {
  const afterwards = AFTERWARDS[step];
  if (afterwards === undefined || rest.length > (step === 'exchange' ? 1 : 0))
    throw new PlainFailure(localized('say one step.', '请指定一个步骤。'), { advice: [USAGE] });
  const lines = await withDatabase(process.env, { mustExist: true }, (url) => perform([step, ...rest], url));
  for (const line of afterwards === '' ? lines : [...lines, afterwards]) process.stdout.write(`${line}\n`);
  return 0;
}

async function perform(args: string[], url: string): Promise<string[]> {
  const env = serviceEnvironment(process.env, readPlatformSettings(process.env), url);
  const script = serviceProgram('tunnel-gateway', 'exchange-identity');
  try {
    const { stdout } = await run(process.execPath, [script, ...args], { env, cwd: ROOT, timeout: STEP_TIMEOUT_MS });
    return stdout.trim().split('\n');
  } catch (cause) {
    const output = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim().split('\n') : [];
    throw new PlainFailure(localized(`the step ${args[0]} failed.`, `步骤 ${args[0]} 失败。`), {
      advice: output,
      cause,
    });
  }
}
