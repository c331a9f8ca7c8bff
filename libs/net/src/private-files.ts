import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  promises,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

interface Owner {
  uid: number;
  gid: number;
}

/**
 * A service started with sudo writes as root. The owner of the folder, who may start it without sudo next time, must still
 * be able to read and replace the files, so they are given to that owner. Undefined: nothing has to be done.
 */
function ownerToKeep({ uid, gid }: Owner): Owner | undefined {
  return process.getuid?.() === 0 && uid !== 0 ? { uid, gid } : undefined;
}

/** Gives a file that this process created to the owner of its folder. */
export function keepOwner(file: string): void {
  const owner = ownerToKeep(statSync(dirname(file)));
  if (owner !== undefined) chownSync(file, owner.uid, owner.gid);
}

/**
 * Creates a folder and its parents for this user alone, regardless of the umask. An existing folder stays as it is.
 * `mode`: 0o700 by default.
 */
export function makePrivateFolder(folder: string, mode = 0o700): void {
  const first = mkdirSync(folder, { recursive: true, mode });
  if (first === undefined) return;
  const owner = ownerToKeep(statSync(dirname(first)));
  for (let path = folder; path.length >= first.length; path = dirname(path)) {
    chmodSync(path, mode);
    if (owner !== undefined) chownSync(path, owner.uid, owner.gid);
  }
}

/** Writes a private file (0600) atomically: a reader sees the old content or the new, never a part of it. */
export function writePrivate(file: string, contents: string | Buffer): void {
  const draft = draftOf(file);
  try {
    writeFileSync(draft, contents, { mode: 0o600 });
    keepOwner(draft);
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Like `writePrivate`, but asynchronous, and creates the folder. */
export async function writePrivately(file: string, text: string): Promise<void> {
  const folder = dirname(file);
  if ((await promises.stat(folder).catch(() => undefined)) === undefined) makePrivateFolder(folder);
  const draft = draftOf(file);
  try {
    await promises.writeFile(draft, text, { mode: 0o600 });
    const owner = ownerToKeep(await promises.stat(folder));
    if (owner !== undefined) await promises.chown(draft, owner.uid, owner.gid);
    await promises.rename(draft, file);
  } catch (error) {
    await promises.rm(draft, { force: true });
    throw error;
  }
}

function draftOf(file: string): string {
  return `${file}.${process.pid}.new`;
}

/** Writes a private file unless it exists. Of processes that start together one wins. True: this one did. */
export function writePrivateOnce(file: string, text: string): boolean {
  const draft = `${draftOf(file)}.${randomBytes(4).toString('hex')}`;
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
    keepOwner(draft);
    // A link is created atomically, and fails if the file exists.
    linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
