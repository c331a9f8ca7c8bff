import { randomUUID } from 'node:crypto';
import { fstatSync, ftruncateSync, readSync, writeSync } from 'node:fs';
import type { ConnectionRecord, TrafficDelta } from '@gatehouse/proxy-kernel';
import type { SpoolFiles } from '../common/spool-files.js';
import { addRange, type SpoolRange } from '../common/spool-range.js';

/** The records and traffic of one turn of the kernel's event loop. */
export interface SpoolEntry {
  spool: string;
  number: number;
  closed: ConnectionRecord[];
  traffic: TrafficDelta[];
}

export interface SpoolOptions {
  /** Called once when a problem begins, and once when it is over. */
  warn: (message: string) => void;
  /** Converts a line to its written form, without line breaks, and back. Throws for a line it cannot read. */
  seal?: (text: string) => string;
  open?: (line: string) => string;
  /** The limit for both files together, in bytes. */
  limitBytes?: number;
  /** The size at which writing changes to the other file, once that is empty. */
  switchBytes?: number;
}

interface SpoolFile {
  fd: number;
  size: number;
  /** Numbers of entries that are not stored yet, by spool. */
  unstored: Map<string, Set<number>>;
}

const DEFAULTS = {
  seal: (text: string) => text,
  open: (line: string) => line,
  limitBytes: 64 * 1024 * 1024,
  switchBytes: 8 * 1024 * 1024,
};
const NEW_LINE = 10;

/** Null after a warning if the files are not usable: the kernel runs without a spool. */
export function openSpool(files: SpoolFiles, options: SpoolOptions): RecordSpool | null {
  try {
    return new RecordSpool(files, options);
  } catch (error) {
    options.warn(`Records that are not stored yet cannot be kept on disk: ${(error as Error).message}`);
    return null;
  }
}

/**
 * Keeps a kernel's records until the service has stored them, so that a killed process loses none. One line is appended
 * for each turn of the event loop. Nothing is synced, since the system's cache outlives the process. A file is emptied
 * when all of its entries are stored, and never rewritten.
 */
export class RecordSpool {
  readonly id = randomUUID();
  /** Entries left by earlier runs, oldest first. */
  readonly left: readonly SpoolRange[];
  readonly #options: Required<SpoolOptions>;
  readonly #files: readonly [SpoolFile, SpoolFile];
  #current: SpoolFile;
  #number = 0;
  #notKept = 0;

  constructor(files: SpoolFiles, options: SpoolOptions) {
    this.#options = { ...DEFAULTS, ...options };
    const [one, other] = files;
    this.#files = [this.#opened(one), this.#opened(other)];
    this.#current = this.#files[0].size <= this.#files[1].size ? this.#files[0] : this.#files[1];
    const entries = this.#files.flatMap((file) => this.#entriesOf(file));
    for (const file of this.#files) this.#emptyWhenStored(file);
    this.left = rangesOf(entries);
  }

  /** Returns the number of the entry; null if it could not be written. Never throws. */
  append(closed: readonly ConnectionRecord[], traffic: readonly TrafficDelta[]): number | null {
    const number = this.#number + 1;
    const line = `${this.#options.seal(JSON.stringify({ spool: this.id, number, closed, traffic }))}\n`;
    const obstacle = this.#write(Buffer.from(line));
    if (obstacle !== null) {
      if (this.#notKept++ === 0)
        this.#options.warn(`Records cannot be kept on disk until they are stored: ${obstacle}`);
      return null;
    }
    if (this.#notKept > 0) this.#options.warn(`Records are kept on disk again, after ${this.#notKept} times without`);
    this.#notKept = 0;
    this.#number = number;
    note(this.#current.unstored, this.id, number);
    return number;
  }

  /** Marks entries as stored; those that are not in this spool are ignored. */
  stored(ranges: readonly SpoolRange[]): void {
    for (const file of this.#files) {
      for (const range of ranges) forget(file.unstored, range);
      this.#emptyWhenStored(file);
    }
  }

  /** The entries that are not stored yet, oldest first. */
  read(ranges: readonly SpoolRange[]): SpoolEntry[] {
    const wanted = (entry: SpoolEntry): boolean =>
      ranges.some(({ spool, first, last }) => entry.spool === spool && first <= entry.number && entry.number <= last);
    const entries = this.#files.flatMap((file) =>
      this.#parsed(file).filter((entry) => wanted(entry) && file.unstored.get(entry.spool)?.has(entry.number)),
    );
    return inOrder(entries);
  }

  /** Cuts off a line that a killed process did not finish, so that the next one is separate. */
  #opened(fd: number): SpoolFile {
    const contents = contentsOf(fd);
    const size = contents.lastIndexOf(NEW_LINE) + 1;
    if (size < contents.length) ftruncateSync(fd, size);
    return { fd, size, unstored: new Map() };
  }

  #entriesOf(file: SpoolFile): SpoolEntry[] {
    const entries = this.#parsed(file);
    for (const { spool, number } of entries) note(file.unstored, spool, number);
    return entries;
  }

  /** A line that cannot be read affects no other. */
  #parsed({ fd }: SpoolFile): SpoolEntry[] {
    const lines = contentsOf(fd).toString('utf8').split('\n');
    return lines.flatMap((line) => (line === '' ? [] : (this.#entry(line) ?? [])));
  }

  #entry(line: string): SpoolEntry | null {
    try {
      const entry = JSON.parse(this.#options.open(line)) as SpoolEntry;
      const whole = typeof entry.spool === 'string' && Number.isSafeInteger(entry.number);
      return whole && Array.isArray(entry.closed) && Array.isArray(entry.traffic) ? entry : null;
    } catch {
      return null;
    }
  }

  /** Returns null, or why nothing was written. */
  #write(line: Buffer): string | null {
    const { limitBytes, switchBytes } = this.#options;
    const [one, other] = this.#files;
    const idle = this.#current === one ? other : one;
    if (this.#current.size >= switchBytes && idle.size === 0) this.#current = idle;
    if (one.size + other.size + line.length > limitBytes) return `${limitBytes} bytes wait to be stored`;
    const { fd, size } = this.#current;
    try {
      if (writeSync(fd, line) !== line.length) throw new Error('the disk is full');
      this.#current.size += line.length;
      return null;
    } catch (error) {
      this.#cut(fd, size);
      return (error as Error).message;
    }
  }

  #emptyWhenStored(file: SpoolFile): void {
    if (file.size === 0 || file.unstored.size > 0) return;
    if (this.#cut(file.fd, 0)) file.size = 0;
  }

  #cut(fd: number, size: number): boolean {
    try {
      ftruncateSync(fd, size);
      return true;
    } catch {
      // If entries are read again, their numbers identify them.
      return false;
    }
  }
}

function rangesOf(entries: SpoolEntry[]): SpoolRange[] {
  const ranges: SpoolRange[] = [];
  for (const { spool, number } of inOrder(entries)) addRange(ranges, { spool, first: number, last: number });
  return ranges;
}

/** Runs in the order in which they were found, and the entries of each by number. */
function inOrder(entries: readonly SpoolEntry[]): SpoolEntry[] {
  const runs = Map.groupBy(entries, ({ spool }) => spool);
  return [...runs.values()].flatMap((run) => run.sort((a, b) => a.number - b.number));
}

function note(unstored: SpoolFile['unstored'], spool: string, number: number): void {
  const numbers = unstored.get(spool);
  if (numbers) numbers.add(number);
  else unstored.set(spool, new Set([number]));
}

function forget(unstored: SpoolFile['unstored'], { spool, first, last }: SpoolRange): void {
  const numbers = unstored.get(spool);
  if (!numbers) return;
  if (last - first < numbers.size) for (let number = first; number <= last; number++) numbers.delete(number);
  else for (const number of numbers) if (first <= number && number <= last) numbers.delete(number);
  if (numbers.size === 0) unstored.delete(spool);
}

function contentsOf(fd: number): Buffer {
  const { size } = fstatSync(fd);
  const contents = Buffer.alloc(size);
  let read = 0;
  while (read < size) {
    const more = readSync(fd, contents, read, size - read, read);
    if (more === 0) break;
    read += more;
  }
  return contents.subarray(0, read);
}
