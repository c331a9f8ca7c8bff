import { BackupReader } from './backup-file.js';
import type { BackupHeader } from './backup-header.js';
import { DaysOfRows } from './former-format.js';
import { Measure } from './measured-stream.js';

/** Progress of a long backup or restore. */
export interface BackupProgress {
  stage: 'saving' | 'checking' | 'loading';
  /** `schema.name` */
  table: string;
  /** Bytes of this table so far. */
  rows: number;
  /** Total of this table; undefined while it is being determined. */
  totalRows?: number;
}

export type ProgressHandler = (progress: BackupProgress) => void;

/**
 * Reads a backup to its end and resolves with its header if every byte is unchanged. A header of version 1 is completed
 * with the partitions that its rows need.
 * @throws BackupError
 */
export async function checkBackupFile(
  file: string,
  onProgress: ProgressHandler = () => undefined,
): Promise<BackupHeader> {
  const reader = new BackupReader(file);
  try {
    const header = await reader.header();
    for (const table of header.tables) {
      const measure = new Measure();
      const days = header.version === 1 ? new DaysOfRows(table) : undefined;
      for await (const chunk of reader.take(table.bytes)) {
        measure.add(chunk);
        days?.add(chunk);
        const { schema, name, rows: totalRows } = table;
        onProgress({ stage: 'checking', table: `${schema}.${name}`, rows: measure.rows, totalRows });
      }
      measure.requireSameAs(table);
      header.partitions.push(...(days?.partitions() ?? []));
    }
    await reader.end();
    return header;
  } finally {
    await reader.close();
  }
}
