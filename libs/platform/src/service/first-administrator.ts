import { randomBytes, randomInt } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

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
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const password = Array.from({ length: 20 }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  writeFileSync(draft, `${password}\n`, { mode: 0o600, flag: 'wx' });
  try {
    // A link appears complete or not at all, and only once: services that start together agree on one password.
    linkSync(draft, file);
    return password;
  } catch (error) {
    const other = errorCode(error) === 'EEXIST' ? readPassword(file) : undefined;
    if (other === undefined) throw error;
    return other;
  } finally {
    unlinkSync(draft);
  }
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
