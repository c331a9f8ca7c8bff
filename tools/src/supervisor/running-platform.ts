import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { runningState } from '../supervisor/state-file.js';

/** Address of a service of the platform that runs in this home. @throws PlainFailure with the advice for it. */
export function addressOf(home: string, service: string, advice: readonly string[] = []): string {
  const url = runningState(home)?.services.find(({ name }) => name === service)?.url;
  if (url) return url;
  throw new PlainFailure('no platform runs in this home.', {
    advice: [`home: ${home}`, 'Start one with: npm start', ...advice],
  });
}

/** The first administrators', as the environment or the home says. @throws PlainFailure */
export function findPassword(env: NodeJS.ProcessEnv, home: string): string {
  const given = env['GATEHOUSE_ADMIN_PASSWORD'];
  if (given) return given;
  const file = join(home, 'first-login.txt');
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new PlainFailure('the administrator’s password is not known.', {
      advice: [`There is no ${file}. Set GATEHOUSE_ADMIN_PASSWORD and repeat.`],
      cause,
    });
  }
}
