import type { Bilingual } from '@gatehouse/i18n';
import { OWN_TERMINAL_LANGUAGE } from '../settings/settings.js';
import { failureLines } from './start-failure.js';

/**
 * A program that does one thing and ends, such as migrate.ts: prints the result of `work`, or one line per problem with
 * exit code 1.
 */
export async function runCommand(name: string, work: () => Promise<readonly (string | Bilingual)[]>): Promise<void> {
  try {
    for (const line of await work()) {
      process.stdout.write(`${typeof line === 'string' ? line : line[OWN_TERMINAL_LANGUAGE]}\n`);
    }
  } catch (error) {
    for (const line of failureLines(error, OWN_TERMINAL_LANGUAGE)) process.stderr.write(`${name}: ${line}\n`);
    process.exitCode = 1;
  }
}
