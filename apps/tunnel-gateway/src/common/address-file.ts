import { readFileSync, statSync } from 'node:fs';

/** What a database is for, in messages. */
export interface AddressFileNames {
  /** As in `the database of countries`. */
  contents: string;
  /** The setting with its path. */
  setting: string;
}

export interface AddressFileSource<T> extends AddressFileNames {
  /** Null: there is no file without the setting. */
  bundled: (() => Buffer) | null;
  /** @throws Error for a file that is no such database */
  open: (file: Buffer) => (address: string) => T | null;
}

/**
 * A database of addresses for rules: the operator's file, or the bundled one. It is read when a rule first needs it,
 * and again when the file changes. If that fails, the previous one stays in use.
 */
export class AddressFile<T> {
  private readonly path: string | null;
  private readonly source: AddressFileSource<T>;
  private readonly onProblem: (message: string) => void;
  private stamp: string | null = null;
  private found: ((address: string) => T | null) | null = null;

  constructor(path: string | null, source: AddressFileSource<T>, onProblem: (message: string) => void) {
    this.path = path;
    this.source = source;
    this.onProblem = onProblem;
  }

  /** Undefined without a database; null for an unknown address. */
  readonly lookup = (address: string): T | null | undefined => (this.found ? this.found(address) : undefined);

  /** Whether a database is loaded. */
  get isThere(): boolean {
    return this.found !== null;
  }

  /** Reads the file if it has changed. True: lookups may have other results now. */
  load(): boolean {
    const stamp = this.stampNow();
    if (stamp === this.stamp) return false;
    this.stamp = stamp;
    const { bundled, open, contents, setting } = this.source;
    try {
      const file = this.path === null ? bundled?.() : readFileSync(this.path);
      if (!file) throw new Error('it is not set');
      this.found = open(file);
      return true;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const consequence = this.found ? 'the previous one stays in use' : `rules about ${contents} match nothing`;
      this.onProblem(`the database of ${contents} (${setting}) cannot be read, ${consequence}: ${reason}`);
      return false;
    }
  }

  private stampNow(): string {
    if (this.path === null) return 'bundled';
    try {
      const { mtimeMs, size, ino } = statSync(this.path);
      return `${mtimeMs} ${size} ${ino}`;
    } catch {
      return 'none';
    }
  }
}
