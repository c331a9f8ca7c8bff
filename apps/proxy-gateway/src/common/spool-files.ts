import { constants, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';

/** Says that the kernel's process has files for its records, as descriptors 4 and 5. */
export const SPOOL_ARGUMENT = 'spool';

/** Descriptors of two files, open for reading and appending. */
export type SpoolFiles = readonly [number, number];

/** @throws Error of the file system where the folder cannot be written. */
export function openSpoolFiles(folder: string, name: string): SpoolFiles {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
  const open = (part: string): number => openSync(join(folder, `${name}-${part}`), flags, 0o600);
  return [open('a'), open('b')];
}
