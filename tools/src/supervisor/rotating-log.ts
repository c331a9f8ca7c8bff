import { closeSync, existsSync, fstatSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { makePrivateFolder, openPrivate } from '../../bootstrap/private-files.mjs';
import { localized } from '../../bootstrap/language.mjs';

const DEFAULT_MAX_BYTES = 10 * 1024 * 1024;
const KEPT_FILES = 3;
const NEWLINE = 10;

export interface RotatingLogOptions {
  maxBytes?: number;
  /** One line for the person at the terminal: when lines begin to be dropped, and when there is room again. */
  notify?: (line: string) => void;
}

/**
 * A log file that is renamed to `.1`, `.2`, ... when it is full; the oldest one is given up. A file that cannot be written
 * (usually: a full disk) costs its lines and nothing else: they are counted, and the next one that can be written says so.
 */
export class RotatingLog {
  private descriptor: number | undefined;
  private size = 0;
  private failing = false;
  private dropped = 0;
  /** What is in the file ends in the middle of a line. */
  private torn = false;
  private readonly maxBytes: number;
  private readonly notify: (line: string) => void;

  /** Never throws: what cannot be opened now is tried again with every line. */
  constructor(
    readonly file: string,
    { maxBytes = DEFAULT_MAX_BYTES, notify = () => undefined }: RotatingLogOptions = {},
  ) {
    this.maxBytes = maxBytes;
    this.notify = notify;
    try {
      this.open();
    } catch (error) {
      this.lose(error as NodeJS.ErrnoException, 0);
    }
  }

  write(chunk: Buffer): void {
    try {
      if (this.size > 0 && this.size + chunk.length > this.maxBytes) this.rotate();
      if (this.descriptor === undefined) this.open();
      if (this.failing) this.sayWhatIsMissing();
      this.append(chunk);
    } catch (error) {
      this.lose(error as NodeJS.ErrnoException, linesOf(chunk));
    }
  }

  close(): void {
    if (this.descriptor !== undefined) closeSync(this.descriptor);
    this.descriptor = undefined;
  }

  private open(): void {
    makePrivateFolder(dirname(this.file));
    this.descriptor = openPrivate(this.file, 'a');
    this.size = fstatSync(this.descriptor).size;
  }

  private append(chunk: Buffer): void {
    let offset = 0;
    while (offset < chunk.length) {
      const written = writeSync(this.descriptor ?? -1, chunk, offset);
      offset += written;
      this.size += written;
      this.torn = chunk[offset - 1] !== NEWLINE;
    }
  }

  private sayWhatIsMissing(): void {
    const message = `${this.dropped} lines are missing here: the log could not be written`;
    const line = JSON.stringify({ time: new Date().toISOString(), level: 'warn', context: 'Supervisor', message });
    this.append(Buffer.from(`${this.torn ? '\n' : ''}${line}\n`));
    this.notify(
      localized(
        `its log is written again; ${this.dropped} lines are missing in ${this.file}`,
        `日志已恢复写入，${this.file} 中缺少 ${this.dropped} 行`,
      ),
    );
    this.dropped = 0;
    this.failing = false;
  }

  private lose(error: NodeJS.ErrnoException, lines: number): void {
    if (!this.failing) {
      this.notify(
        localized(
          `its log ${this.file} cannot be written (${reasonOf(error)}); it goes on without`,
          `无法写入日志 ${this.file}（${reasonOf(error)}），将不写日志继续运行`,
        ),
      );
    }
    this.failing = true;
    this.dropped += lines;
  }

  private rotate(): void {
    this.close();
    for (let i = KEPT_FILES - 1; i >= 1; i--) {
      const from = i === 1 ? this.file : `${this.file}.${i - 1}`;
      if (existsSync(from)) renameSync(from, `${this.file}.${i}`);
    }
    this.size = 0;
    this.torn = false;
  }
}

function linesOf(chunk: Buffer): number {
  let lines = 0;
  for (const byte of chunk) if (byte === NEWLINE) lines += 1;
  return lines;
}

function reasonOf({ code, message }: NodeJS.ErrnoException): string {
  return code === 'ENOSPC' || code === 'EDQUOT' ? 'the disk is full' : (code ?? message);
}
