import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';

/**
 * A backup is one gzip file (`gunzip -c` reads it): a line of JSON, the header, then the rows of each table in the
 * header's order, in PostgreSQL's COPY text format, each exactly as many bytes as the header says.
 */
export const BACKUP_FORMAT = 'gatehouse-backup';
export const BACKUP_VERSION = 1;
const HEADER_LIMIT_BYTES = 16 * 1024 * 1024;

export interface BackupTable {
  schema: string;
  name: string;
  columns: string[];
  rows: number;
  bytes: number;
  /** SHA-256 of the table's COPY text, hex. */
  sha256: string;
}

export interface BackupSequence {
  schema: string;
  name: string;
  /** Text: a sequence may pass 2^53. */
  value: string;
  called: boolean;
}

export interface BackupHeader {
  format: typeof BACKUP_FORMAT;
  version: number;
  createdAt: string;
  schemas: { name: string; migrations: string[] }[];
  /** Parents before the tables that refer to them. */
  tables: BackupTable[];
  sequences: BackupSequence[];
}

/** What is wrong with a backup or its target, in one line for people. */
export class BackupError extends Error {
  override readonly name = 'BackupError';
}

/** Reads a backup from its beginning, in pieces of known size. */
export class BackupReader {
  private readonly chunks: AsyncIterator<Buffer>;
  private rest: Buffer = Buffer.alloc(0);
  private readonly file: string;

  constructor(file: string) {
    this.file = file;
    const source = createReadStream(file);
    const unzipped = createGunzip();
    source.on('error', (error) => unzipped.destroy(error));
    this.chunks = source.pipe(unzipped)[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  }

  async header(): Promise<BackupHeader> {
    let line = Buffer.alloc(0);
    let end = -1;
    while (end < 0) {
      if (line.length > HEADER_LIMIT_BYTES) throw this.damaged('it has no header');
      const chunk = await this.next();
      if (chunk === undefined) throw this.damaged('it has no header');
      const searched = line.length;
      line = Buffer.concat([line, chunk]);
      end = line.indexOf('\n', searched);
    }
    this.rest = line.subarray(end + 1);
    return this.parse(line.subarray(0, end).toString('utf8'));
  }

  /** The next `count` bytes; raises BackupError when the file ends before. */
  async *take(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0;) {
      const chunk = this.rest.length > 0 ? this.rest : await this.next();
      if (chunk === undefined) throw this.damaged('it ends too early');
      const part = chunk.subarray(0, left);
      this.rest = chunk.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }

  /** Raises BackupError when something follows what has been read. */
  async end(): Promise<void> {
    if (this.rest.length > 0 || (await this.next()) !== undefined) throw this.damaged('something follows its end');
  }

  async close(): Promise<void> {
    await this.chunks.return?.();
  }

  private async next(): Promise<Buffer | undefined> {
    try {
      const { done, value } = await this.chunks.next();
      return done === true ? undefined : value;
    } catch (cause) {
      throw this.damaged((cause as Error).message, cause);
    }
  }

  private parse(text: string): BackupHeader {
    let header: Partial<BackupHeader>;
    try {
      header = JSON.parse(text) as Partial<BackupHeader>;
    } catch (cause) {
      throw this.damaged('it has no header', cause);
    }
    if (header.format !== BACKUP_FORMAT) throw this.damaged('it is not a backup of Gatehouse');
    if (header.version !== BACKUP_VERSION) {
      throw new BackupError(
        `${this.file} has the format ${header.version}, and this Gatehouse reads ${BACKUP_VERSION}: ` +
          'restore it with the version that made it.',
      );
    }
    return header as BackupHeader;
  }

  private damaged(reason: string, cause?: unknown): BackupError {
    return new BackupError(`${this.file} is not a usable backup: ${reason}.`, { cause });
  }
}

/** The header alone, for showing what a file holds and for migrating its target to the same state. */
export async function readBackupHeader(file: string): Promise<BackupHeader> {
  const reader = new BackupReader(file);
  try {
    return await reader.header();
  } finally {
    await reader.close();
  }
}
