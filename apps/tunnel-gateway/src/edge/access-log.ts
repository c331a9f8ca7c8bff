import { open, stat, type FileHandle } from 'node:fs/promises';
import { guardPromise } from '@gatehouse/net';
import type { LoggedRequest, TunnelLogger } from '@gatehouse/tunnel-kernel';
import type { AccessLogFormat } from '../common/access-log-formats.js';
import { accessLine } from './access-line.js';

export interface AccessLogOptions {
  file: string;
  format: AccessLogFormat;
}

const FLUSH_MS = 250;
/** One write has at most this much, so that lines of several processes do not mix. */
const CHUNK_CHARACTERS = 64 * 1024;
/** Lines that wait for a slow disk; further ones are dropped and counted. */
const MAX_WAITING_CHARACTERS = 4 * 1024 * 1024;
/** Between two reports of a problem. */
const REPORT_MS = 60_000;

/**
 * Requests of hosts in a file, one line each. A request never waits for it. A file that was moved away or deleted is made
 * again, as logrotate expects.
 */
export class AccessLog {
  private readonly options: AccessLogOptions;
  private readonly logger: TunnelLogger;
  private readonly timer: NodeJS.Timeout;
  private lines: string[] = [];
  private waiting = 0;
  private dropped = 0;
  private file: FileHandle | null = null;
  private writing: Promise<void> | null = null;
  private reportedAt = -Infinity;

  constructor(options: AccessLogOptions, logger: TunnelLogger) {
    this.options = options;
    this.logger = logger;
    this.timer = setInterval(() => this.flush(), FLUSH_MS).unref();
  }

  readonly add = (request: LoggedRequest): void => {
    if (this.waiting >= MAX_WAITING_CHARACTERS) {
      this.dropped += 1;
      return;
    }
    const line = accessLine(request, this.options.format);
    this.lines.push(line);
    this.waiting += line.length;
  };

  /** Writes what is left. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.writing;
    await this.write();
    await this.file?.close().catch(() => undefined);
    this.file = null;
  }

  private flush(): void {
    if (this.writing || (this.lines.length === 0 && this.dropped === 0)) return;
    this.writing = this.write().finally(() => (this.writing = null));
    guardPromise(null, this.writing);
  }

  private async write(): Promise<void> {
    try {
      const file = await this.current();
      for (let text = this.take(); text !== ''; text = this.take()) await file.appendFile(text);
      if (this.dropped > 0) this.report('the access log is written too slowly; requests are missing in it');
    } catch (error) {
      // Lines stay, up to the limit, until the file can be written again.
      this.report('the access log cannot be written', error);
    }
  }

  /** Whole lines, together no longer than a write may be; at least one. */
  private take(): string {
    let count = 0;
    let length = 0;
    for (; count < this.lines.length; count += 1) {
      length += this.lines[count]?.length ?? 0;
      if (count > 0 && length > CHUNK_CHARACTERS) break;
    }
    const text = this.lines.splice(0, count).join('');
    this.waiting -= text.length;
    return text;
  }

  /** The file under its name: another one, after the former was moved away. @throws Error of the file system */
  private async current(): Promise<FileHandle> {
    const { file: name } = this.options;
    if (this.file) {
      const [own, named] = await Promise.all([this.file.stat(), stat(name).catch(() => null)]);
      if (named?.ino === own.ino && named.dev === own.dev) return this.file;
      await this.file.close();
      this.file = null;
    }
    this.file = await open(name, 'a', 0o640);
    return this.file;
  }

  private report(problem: string, error?: unknown): void {
    if (performance.now() - this.reportedAt < REPORT_MS) return;
    this.reportedAt = performance.now();
    this.logger.warn(problem, {
      file: this.options.file,
      ...(this.dropped > 0 && { dropped: this.dropped }),
      ...(error !== undefined && { error: error instanceof Error ? error.message : 'unknown' }),
    });
    this.dropped = 0;
  }
}
