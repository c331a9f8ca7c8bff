import { constants } from 'node:fs';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { parseWitnessLine, thinOut, type WitnessLine } from './witness-line.js';

const MODE = 0o600;
/** Lines that are kept when the file is shortened, and the size at which that happens. */
const KEPT_LINES = 4_000;
const MAX_BYTES = 2 * 1024 * 1024;
/** A file that cannot be shortened is not written beyond this size. */
const HARD_LIMIT_BYTES = 4 * MAX_BYTES;

/** A file to which lines are only appended; its size is limited by dropping old ones. */
export class WitnessFile {
  readonly path: string;
  /** Whether the last line may be incomplete. */
  private isTorn = true;

  constructor(path: string) {
    this.path = path;
  }

  /** Appends a line and waits until it is on the disk. @throws the error of the file system. */
  async append(line: WitnessLine): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true });
    const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW;
    const file = await open(this.path, flags, MODE);
    let size: number;
    try {
      ({ size } = await file.stat());
      if (size > HARD_LIMIT_BYTES) throw new Error(`${this.path} is too large and cannot be made smaller`);
      const text = `${this.isTorn && size > 0 ? '\n' : ''}${JSON.stringify(line)}\n`;
      this.isTorn = true;
      await file.appendFile(text);
      this.isTorn = false;
      await file.datasync();
    } finally {
      await file.close();
    }
    if (size > MAX_BYTES) await this.compact();
  }

  /** Oldest first; empty if there is no file. @throws the error of the file system. */
  async lines(): Promise<WitnessLine[]> {
    let text: string;
    try {
      text = await readFile(this.path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
    return text.split('\n').flatMap((line) => parseWitnessLine(line) ?? []);
  }

  private async compact(): Promise<void> {
    const draft = `${this.path}.${process.pid}.tmp`;
    const kept = thinOut(await this.lines(), KEPT_LINES);
    try {
      const file = await open(draft, 'wx', MODE);
      try {
        await file.writeFile(kept.map((line) => `${JSON.stringify(line)}\n`).join(''));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(draft, this.path);
    } finally {
      await rm(draft, { force: true });
    }
  }
}
