import { constants, openSync } from 'node:fs';
import { join } from 'node:path';
import { keepOwner, makePrivateFolder } from '@gatehouse/net';

/** The argument by which the kernel's process knows that descriptors 4 and 5 are files for its records. */
export const SPOOL_ARGUMENT = 'spool';
/** The argument by which it knows that other kernels listen on the same ports. */
export const SHARED_PORTS_ARGUMENT = 'shared-ports';

/** The descriptors of two files, open for reading and appending. */
export type SpoolFiles = readonly [number, number];

/** @throws Error from the file system if the folder is not writable. */
export function openSpoolFiles(folder: string, name: string): SpoolFiles {
  makePrivateFolder(folder);
  const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
  const open = (part: string): number => {
    const file = join(folder, `${name}-${part}`);
    const descriptor = openSync(file, flags, 0o600);
    keepOwner(file);
    return descriptor;
  };
  return [open('a'), open('b')];
}
