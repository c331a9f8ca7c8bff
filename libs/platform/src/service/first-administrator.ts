import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder, writePrivate, writePrivateOnce } from '@gatehouse/net';

export interface FirstAdministratorOptions {
  /** GATEHOUSE_HOME. */
  readonly home: string;
  /** GATEHOUSE_ADMIN_PASSWORD, if set. */
  readonly envValue?: string | undefined;
}

const FILE = 'first-login.txt';
/** Without look-alikes: people copy it by hand. */
const LETTERS = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/**
 * The password of the first administrator: the given one, else one that is made once and kept in
 * home/first-login.txt (mode 0600, the password alone on one line), shared by the services of one home.
 */
export function firstAdministratorPassword({ home, envValue }: FirstAdministratorOptions): string {
  if (envValue !== undefined && envValue !== '') return envValue;
  const file = join(home, FILE);
  return readPassword(file) ?? createPassword(home, file);
}

function createPassword(home: string, file: string): string {
  makePrivateFolder(home);
  const password = Array.from({ length: 20 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  // Services that start together agree on one password.
  if (writePrivateOnce(file, `${password}\n`)) return password;
  const other = readPassword(file);
  if (other !== undefined) return other;
  // Empty: the disk was full when it was written, and nobody has a password out of it.
  writePrivate(file, `${password}\n`);
  return password;
}

function readPassword(file: string): string | undefined {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return text === '' ? undefined : text;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function errorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
