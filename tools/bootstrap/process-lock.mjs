import { linkSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { keepOwner, makePrivateFolder, writePrivate } from './private-files.mjs';
import { isRunning, startTimeOf } from './process-identity.mjs';

function readHolder(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    if (error instanceof SyntaxError) return {}; // cut short by a full disk or a power cut: nobody holds it
    throw error;
  }
}

function removeIfPresent(file) {
  try {
    unlinkSync(file);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
}

/** Takes away a lock whose holder is gone. The rename decides which of several waiting processes does it. */
function discardStale(file, stale) {
  const aside = `${file}.stale-${process.pid}`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if (error.code === 'ENOENT') return;
    throw error;
  }
  const taken = readHolder(aside);
  if (taken?.pid === stale.pid && taken?.startTime === stale.startTime) removeIfPresent(aside);
  else renameSync(aside, file); // another process renewed it in between: give it back
}

/**
 * Tries to take a lock file for this process. The file appears with its content in one step (a hard link), and one left
 * by a process that no longer runs is replaced. `note` is kept in it, to be shown to a process that finds the lock taken.
 */
export function tryLock(file, note = {}) {
  makePrivateFolder(dirname(file));
  const content = { pid: process.pid, startTime: startTimeOf(process.pid), ...note };
  const draft = `${file}.${process.pid}`;
  for (let attempt = 0; attempt < 20; attempt++) {
    try {
      writeFileSync(draft, JSON.stringify(content), { mode: 0o600 });
      keepOwner(draft);
      linkSync(draft, file);
      return { lock: ownedLock(file, content) };
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    } finally {
      removeIfPresent(draft);
    }
    const holder = readHolder(file);
    if (holder === undefined) continue;
    if (isRunning(holder)) return { holder };
    discardStale(file, holder);
  }
  throw new Error(`could not take or replace the lock ${file}`);
}

function ownedLock(file, content) {
  const release = () => {
    process.off('exit', release);
    if (readHolder(file)?.pid === process.pid) removeIfPresent(file);
  };
  process.on('exit', release);
  return {
    release,
    update(note) {
      writePrivate(file, JSON.stringify({ ...content, ...note }));
    },
  };
}
