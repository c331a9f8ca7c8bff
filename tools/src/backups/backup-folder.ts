import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

const NAME = /^gatehouse-(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z\.backup\.gz$/;
/** What a backup that was killed leaves. */
const DRAFT = /^gatehouse-\d{8}T\d{6}Z\.backup\.gz\.[0-9a-f]{8}(\.body)?$/;
const LATE_MS = 30 * 60_000;
const DRAFT_LIFE_MS = 86_400_000;

/** A folder of backups that are named after their time. Other files in it are never touched. */
export class BackupFolder {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  /** Where a backup of this moment goes. The folder is made when it is not there. */
  async fileFor(at: Date): Promise<string> {
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    const time = at.toISOString().replaceAll(/[-:]|\.\d+/g, '');
    return join(this.path, `gatehouse-${time}.backup.gz`);
  }

  /** Complete backups, the newest first. */
  async list(): Promise<{ file: string; at: Date }[]> {
    return (await this.names())
      .flatMap((name) => {
        const at = timeOf(name);
        return at === undefined ? [] : [{ file: join(this.path, name), at }];
      })
      .toSorted((a, b) => b.at.getTime() - a.at.getTime());
  }

  /** Whether the newest backup is no older than backups written every `everyMs` are, one that failed and its repetition included. */
  async isRecent(everyMs: number, now: Date): Promise<boolean> {
    const [newest] = await this.list();
    return newest !== undefined && now.getTime() - newest.at.getTime() <= everyMs * 1.5 + LATE_MS;
  }

  /** Leaves the `keep` newest backups, and no drafts that nobody writes any longer. */
  async tidy(keep: number, now: Date): Promise<void> {
    for (const { file } of (await this.list()).slice(keep)) await rm(file, { force: true });
    for (const name of (await this.names()).filter((candidate) => DRAFT.test(candidate))) {
      const file = join(this.path, name);
      const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Infinity }));
      if (now.getTime() - mtimeMs > DRAFT_LIFE_MS) await rm(file, { force: true });
    }
  }

  private async names(): Promise<string[]> {
    try {
      return await readdir(this.path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  }
}

function timeOf(name: string): Date | undefined {
  const [whole, year, month, day, hour, minute, second] = NAME.exec(name) ?? [];
  return whole === undefined ? undefined : new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
}
