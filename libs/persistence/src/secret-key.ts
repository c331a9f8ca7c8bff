import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const KEY_BYTES = 32;

/** The secret key is unusable; the message names the variable or file and the way out. */
export class SecretKeyError extends Error {
  override readonly name = 'SecretKeyError';
}

export interface SecretKeySource {
  /** GATEHOUSE_HOME. */
  home: string;
  /** Value of GATEHOUSE_SECRET_KEYS or GATEHOUSE_SECRET_KEY: one key, or several, newest first. Empty counts as unset. */
  envValue?: string | undefined;
}

/** The newest of the keys. */
export function loadSecretKey(source: SecretKeySource): Buffer {
  return loadSecretKeys(source)[0];
}

/**
 * The keys of the SecretBox, newest first: from the environment, else from `<home>/secret.key`, created at the first start.
 * Several keys are separated by commas or lines.
 */
export function loadSecretKeys(source: SecretKeySource): SecretKeys {
  return findSecretKeys(source) ?? [createKeyFile(source.home, join(source.home, 'secret.key'))];
}

/** The same, or undefined where there is none yet: nothing is created. */
export function findSecretKeys({ home, envValue }: SecretKeySource): SecretKeys | undefined {
  if (envValue !== undefined && envValue !== '') {
    return decodeAll(envValue, envValue.includes(',') ? 'GATEHOUSE_SECRET_KEYS' : 'GATEHOUSE_SECRET_KEY');
  }
  return readKeyFile(join(home, 'secret.key'));
}

/** Newest first. */
type SecretKeys = readonly [Buffer, ...Buffer[]];

function decodeAll(text: string, source: string): SecretKeys {
  const [first = '', ...others] = text.trim().split(/[\s,]+/);
  return [decode(first, source), ...others.map((other) => decode(other, source))];
}

function decode(text: string, source: string): Buffer {
  const trimmed = text.trim();
  const key = Buffer.from(trimmed, 'base64');
  if (key.length === KEY_BYTES && key.toString('base64').replace(/=+$/, '') === trimmed.replace(/=+$/, '')) return key;
  throw new SecretKeyError(`${source} must be ${KEY_BYTES} bytes in base64: openssl rand -base64 32 makes one.`);
}

function readKeyFile(file: string): SecretKeys | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new SecretKeyError(`The secret key ${file} cannot be read: start as the user that owns it.`, { cause });
  }
  if (process.platform !== 'win32' && (statSync(file).mode & 0o077) !== 0) {
    throw new SecretKeyError(`The secret key ${file} can be read by other users: run chmod 600 ${file}.`);
  }
  return decodeAll(text, file);
}

function createKeyFile(home: string, file: string): Buffer {
  mkdirSync(home, { recursive: true });
  const key = randomBytes(KEY_BYTES);
  const draft = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`;
  writeFileSync(draft, `${key.toString('base64')}\n`, { mode: 0o600, flag: 'wx' });
  try {
    // A link appears whole or not at all, and fails when another service, starting at the same time, was first.
    linkSync(draft, file);
    return key;
  } catch (cause) {
    const winner = readKeyFile(file);
    if (winner !== undefined) return winner[0];
    throw new SecretKeyError(`The secret key ${file} cannot be created.`, { cause });
  } finally {
    rmSync(draft, { force: true });
  }
}
