import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { terminalLanguage } from '../../bootstrap/language.mjs';
import { ROOT } from '../../bootstrap/layout.mjs';
import { SERVICES } from './service-list.js';

/** What any service reads begins with one of these, or is named below. A test holds it against the services' settings. */
const PREFIXES = /^(GATEHOUSE|PROXY|RESOURCE|TUNNEL|SITE|SHARE|WEEKLY|ACME|GEOIP|AUDIT|HEALTH|METRICS|OTEL|REDIS)_/;
const OTHERS = new Set(
  (
    'API_RATE_LIMIT AUTO_MIGRATE BIND_ADDRESS CERT_DIR DATABASE_URL LOG_LEVEL MAIL_SENDER NODE_ENV PORT_RANGE ' +
    'SHUTDOWN_DELAY_MS SHUTDOWN_TIMEOUT_MS SMTP_URL TRUSTED_PROXIES WORKERS WORKER_METRICS_PORT'
  ).split(' '),
);

/** Stands for the embedded server's address while that is not known. */
export const UNKNOWN_DATABASE = 'postgresql://127.0.0.1/gatehouse';
/** This file as it is built. */
const PROGRAM = join(ROOT, 'tools/dist/supervisor/settings-check.js');

const UNBUNDLED = '--unbundled';

/** Whether a variable may be one of a service's settings. */
export function isSetting(variable: string): boolean {
  return PREFIXES.test(variable) || OTHERS.has(variable);
}

/**
 * What is wrong with the settings of any service, each problem once; asked of the services' own code before anything is
 * started. In a process of its own: the supervisor, which stays, does not load the services' libraries for this.
 * `isUnbundled` asks the compiled files, which change while a developer edits, instead of the bundles.
 */
export async function settingProblems(
  env: NodeJS.ProcessEnv,
  given: NodeJS.ProcessEnv,
  isUnbundled = false,
): Promise<string[]> {
  // Nothing is set: nothing can be wrong, and the start need not wait.
  if (!Object.keys(given).some(isSetting)) return [];
  const child = spawn(process.execPath, [PROGRAM, ...(isUnbundled ? [UNBUNDLED] : [])], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  await new Promise<void>((resolve) => {
    child.once('error', () => resolve());
    child.once('close', () => resolve());
  });
  // A check that breaks proves nothing: the services check again.
  return [...new Set(output.split('\n').filter((line) => line !== ''))];
}

interface SettingsFile {
  readSettings: (env: NodeJS.ProcessEnv) => unknown;
}

async function printProblems(): Promise<void> {
  const isUnbundled = process.argv.includes(UNBUNDLED);
  for (const { main, bundle } of SERVICES) {
    const program = join(ROOT, dirname(isUnbundled ? main : bundle), 'settings.js');
    const { readSettings } = (await import(program)) as SettingsFile;
    try {
      readSettings(process.env);
    } catch (error) {
      const { text, message } = error as Error & { text?: Readonly<Record<string, string>> };
      process.stdout.write(`${text?.[terminalLanguage()] ?? message}\n`);
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await printProblems();
