// The same as in libs/net, for what runs before anything is built: locks, logs and stamps of the scripts.
import {
  chmodSync,
  chownSync,
  fchownSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';

/**
 * Whom a new file in a folder has to belong to, or undefined when that needs no doing. A user who starts with sudo writes as
 * root; the folder's owner, who starts without it next time, must still be able to read and replace the files.
 */
function ownerToKeep(folder) {
  if (process.getuid?.() !== 0) return undefined;
  const { uid, gid } = statSync(folder);
  return uid === 0 ? undefined : { uid, gid };
}

/** Creates a folder for its user alone, whatever the umask is, with the owner of the one above it. Others stay as they are. */
export function makePrivateFolder(folder, mode = 0o700) {
  const first = mkdirSync(folder, { recursive: true, mode });
  if (first === undefined) return;
  const owner = ownerToKeep(dirname(first));
  for (let path = folder; path.length >= first.length; path = dirname(path)) {
    chmodSync(path, mode);
    if (owner !== undefined) chownSync(path, owner.uid, owner.gid);
  }
}

/** Opens a file of this user's alone (0600); a new one belongs to whom its folder belongs to. Returns the descriptor. */
export function openPrivate(file, flags) {
  const descriptor = openSync(file, flags, 0o600);
  const owner = ownerToKeep(dirname(file));
  if (owner !== undefined) fchownSync(descriptor, owner.uid, owner.gid);
  return descriptor;
}

/** Gives a file that was written as root to the owner of its folder. */
export function keepOwner(file) {
  const owner = ownerToKeep(dirname(file));
  if (owner !== undefined) chownSync(file, owner.uid, owner.gid);
}

/** Writes a file of this user's alone: a reader sees the former content or the new one, never a part of it. */
export function writePrivate(file, text) {
  const draft = `${file}.${process.pid}`;
  try {
    writeFileSync(draft, text, { mode: 0o600 });
    keepOwner(draft);
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
