import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';
import { bilingual, type Bilingual } from '@gatehouse/i18n';
import { type BackupError, NO_HEADER, parseBackupHeader, unusable, type BackupHeader } from './backup-header.js';

const HEADER_LIMIT_BYTES = 16 * 1024 * 1024;

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
      if (line.length > HEADER_LIMIT_BYTES) throw this.damaged(NO_HEADER);
      const chunk = await this.next();
      if (chunk === undefined) throw this.damaged(NO_HEADER);
      const searched = line.length;
      line = Buffer.concat([line, chunk]);
      end = line.indexOf('\n', searched);
    }
    this.rest = line.subarray(end + 1);
    return parseBackupHeader(line.subarray(0, end).toString('utf8'), this.file);
  }

  /** The next `count` bytes. @throws BackupError if the file ends before. */
  async *take(count: number): AsyncGenerator<Buffer> {
    for (let left = count; left > 0;) {
      const chunk = this.rest.length > 0 ? this.rest : await this.next();
      if (chunk === undefined) throw this.damaged(bilingual('it ends too early', '文件不完整'));
      const part = chunk.subarray(0, left);
      this.rest = chunk.subarray(part.length);
      left -= part.length;
      yield part;
    }
  }

  /** @throws BackupError if anything follows. */
  async end(): Promise<void> {
    if (this.rest.length > 0 || (await this.next()) !== undefined) {
      throw this.damaged(bilingual('something follows its end', '文件末尾有多余内容'));
    }
  }

  async close(): Promise<void> {
    await this.chunks.return?.();
  }

  private async next(): Promise<Buffer | undefined> {
    try {
      const { done, value } = await this.chunks.next();
      return done === true ? undefined : value;
    } catch (cause) {
      const { message } = cause as Error;
      throw this.damaged(bilingual(message, message), cause);
    }
  }

  private damaged(reason: Bilingual, cause?: unknown): BackupError {
    return unusable(this.file, reason, cause);
  }
}

/** Only the header, to show the contents of a file and to migrate its target to the same state. */
export async function readBackupHeader(file: string): Promise<BackupHeader> {
  const reader = new BackupReader(file);
  try {
    return await reader.header();
  } finally {
    await reader.close();
  }
}
