import { readFileSync } from 'node:fs';
import { Complaint, fileReason } from './command-line.js';
import type { ConfigFile } from './config-file.js';

/** A kind of key string. */
export interface KeyKind {
  /** Name of the environment variable. */
  variable: string;
  prefix: string;
  /** Options that have the key; by default `--key-file FILE` and `--key KEY`. */
  option?: string;
  /** Throws for an invalid key string. */
  parse: (text: string) => unknown;
}

export interface KeyPlaces {
  given: { key?: string | undefined; 'key-file'?: string | undefined };
  environment: Readonly<Record<string, string | undefined>>;
  file: Pick<ConfigFile, 'key' | 'key_file'>;
}

/** From the command line, the environment or the file, in this order. @throws Complaint. */
export function readKey({ variable, prefix, option, parse }: KeyKind, places: KeyPlaces): string {
  const key = findKey(variable, places)?.trim();
  if (!key) {
    throw new Complaint((words) =>
      option === undefined
        ? words.text('usage.noKey', { variable })
        : words.text('usage.noApiKey', { variable, option }),
    );
  }
  try {
    parse(key);
  } catch {
    throw new Complaint((words) => words.text('usage.key', { prefix }));
  }
  return key;
}

/** Whether there is a key to read at all. */
export function namesKey({ given, environment, file }: KeyPlaces, { variable }: KeyKind): boolean {
  const places = [given.key, given['key-file'], environment[variable], file.key_file, file.key];
  return places.some((place) => place !== undefined && place !== '');
}

/** The file that `readKey` reads; undefined: another source takes precedence, or there is no key. */
export function keyFileOf({ given, environment, file }: KeyPlaces, { variable }: KeyKind): string | undefined {
  if (given.key !== undefined) return undefined;
  return given['key-file'] ?? (environment[variable] === undefined ? file.key_file : undefined);
}

function findKey(variable: string, { given, environment, file }: KeyPlaces): string | undefined {
  if (given.key !== undefined) return given.key;
  if (given['key-file'] !== undefined) return readKeyFile(given['key-file']);
  return environment[variable] ?? (file.key_file === undefined ? file.key : readKeyFile(file.key_file));
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Complaint((words) => words.text('usage.keyFile', { path, reason: fileReason(error, words) }), {
      cause: error,
    });
  }
}
