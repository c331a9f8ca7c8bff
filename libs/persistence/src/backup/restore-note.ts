import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** That a backup took the place of the data: what other files of the home remember may be newer. */
export interface RestoreNote {
  /** When the restore was complete. */
  readonly at: string;
  /** When the backup was made. */
  readonly backupOf: string | null;
}

const fileIn = (home: string): string => join(home, 'restores.jsonl');

/** Writes down a restore in the home, outside the database: nobody who can only write to the database can claim one. */
export async function noteRestore(home: string, note: RestoreNote): Promise<void> {
  await mkdir(home, { recursive: true });
  await appendFile(fileIn(home), `${JSON.stringify(note)}\n`, { mode: 0o600 });
}

/** Oldest first; lines that are none of ours are left out. */
export async function readRestores(home: string): Promise<RestoreNote[]> {
  let text: string;
  try {
    text = await readFile(fileIn(home), 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return text.split('\n').flatMap((line) => parseNote(line) ?? []);
}

function parseNote(line: string): RestoreNote | null {
  try {
    const { at, backupOf } = JSON.parse(line) as Record<string, unknown>;
    if (typeof at !== 'string' || Number.isNaN(Date.parse(at))) return null;
    return { at, backupOf: typeof backupOf === 'string' ? backupOf : null };
  } catch {
    // Half of a line.
    return null;
  }
}
