import { closeSync, existsSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

const DEFAULT_MAX_BYTES = 10 * 1024 * 1024;
const KEPT_FILES = 3;

/** A log file that is renamed to `.1`, `.2`, ... when it is full; the oldest one is given up. */
export class RotatingLog {
  private descriptor: number;
  private size: number;

  constructor(
    readonly file: string,
    private readonly maxBytes = DEFAULT_MAX_BYTES,
  ) {
    mkdirSync(dirname(file), { recursive: true });
    this.descriptor = openSync(file, 'a', 0o600);
    this.size = fstatSync(this.descriptor).size;
  }

  write(chunk: Buffer): void {
    if (this.size > 0 && this.size + chunk.length > this.maxBytes) this.rotate();
    let offset = 0;
    while (offset < chunk.length) offset += writeSync(this.descriptor, chunk, offset);
    this.size += chunk.length;
  }

  close(): void {
    closeSync(this.descriptor);
  }

  private rotate(): void {
    closeSync(this.descriptor);
    for (let i = KEPT_FILES - 1; i >= 1; i--) {
      const from = i === 1 ? this.file : `${this.file}.${i - 1}`;
      if (existsSync(from)) renameSync(from, `${this.file}.${i}`);
    }
    this.descriptor = openSync(this.file, 'a', 0o600);
    this.size = 0;
  }
}
