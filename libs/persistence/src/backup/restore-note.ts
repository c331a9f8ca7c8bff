import { appendFile, mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Records that a backup replaced the data, so that other files of the home may be newer. */
export interface RestoreNote {
  /** When the restore was complete. */
  readonly at: string;
  /** When the backup was made. */
  readonly backupOf: string | null;
}

const fileIn = (home: string): string => join(home, 'restores.jsonl');

/**
 * Records a restore in the home, outside the database, so that write access to the database is not enough to fake one.
 */
export async function noteRestore(home: string, note: RestoreNote): Promise<void> {
  await mkdir(home, { recursive: true });
  await appendFile(fileIn(home), `${JSON.stringify(note)}\n`, { mode: 0o600 });
}

/** Oldest first; other lines are left out. */
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
    // An incomplete line.
    return null;
  }
}
