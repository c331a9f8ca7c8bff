import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateFolder, writePrivate, writePrivateOnce } from '@gatehouse/net';

/** The name of the first administrator in services where accounts have names. */
export const FIRST_ADMINISTRATOR = 'admin';

export interface FirstAdministratorOptions {
  /** GATEHOUSE_HOME. */
  readonly home: string;
  /** GATEHOUSE_ADMIN_PASSWORD, if set. */
  readonly adminPassword?: string | undefined;
}

/** How a service creates the account. */
export interface FirstAdministratorPolicy {
  /** Whether nobody has an account yet. */
  isNeeded(): Promise<boolean>;
  /** Creates the account; false if a replica that started at the same time was first. */
  create(password: string): Promise<boolean>;
}

const FILE = 'first-login.txt';
/** Without look-alikes, because people copy it by hand. */
const LETTERS = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789';

/**
 * Creates the account at the first start; true if this process has done that. Afterwards the password in the database
 * counts, whatever the environment says.
 */
export async function createFirstAdministrator(
  options: FirstAdministratorOptions,
  policy: FirstAdministratorPolicy,
): Promise<boolean> {
  if (!(await policy.isNeeded())) return false;
  return policy.create(firstAdministratorPassword(options));
}

/**
 * The password of the first administrator: the given one, else one that is made once and kept in
 * home/first-login.txt (mode 0600, the password alone on one line), shared by the services of one home.
 */
export function firstAdministratorPassword({ home, adminPassword }: FirstAdministratorOptions): string {
  if (adminPassword !== undefined && adminPassword !== '') return adminPassword;
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
  // Empty: the disk was full when it was written, so nobody knows the password.
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
