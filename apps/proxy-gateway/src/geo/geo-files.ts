import { createHash, randomUUID } from 'node:crypto';
import { open, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { keepOwner, makePrivateFolder } from '@gatehouse/net';

/** The databases on this machine's disk. Files are replaced atomically: a reader sees the old file or the new one. */
export class GeoFiles {
  constructor(readonly folder: string) {}

  path(file: string): string {
    return join(this.folder, file);
  }

  /** Null for a file that is missing or has another checksum. */
  async read(file: string, sha256: string): Promise<Buffer | null> {
    try {
      const content = await readFile(this.path(file));
      return createHash('sha256').update(content).digest('hex') === sha256 ? content : null;
    } catch (error) {
      if (isMissing(error)) return null;
      throw error;
    }
  }

  async write(file: string, content: Buffer): Promise<void> {
    makePrivateFolder(this.folder);
    const part = this.path(`${file}.${randomUUID()}.part`);
    try {
      const handle = await open(part, 'wx', 0o600);
      try {
        await handle.writeFile(content);
        await handle.sync();
      } finally {
        await handle.close();
      }
      keepOwner(part);
      await rename(part, this.path(file));
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    }
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
