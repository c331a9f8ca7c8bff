import { setFlowTimeout } from '@gatehouse/net';
import { TunnelError } from '../../errors.js';
import type { VisitorWords } from '../../messages/index.js';
import { directoryPage } from './directory-page.js';

/** How long a page is reused. */
const FRESH_MS = 1000;
const MAX_KEPT = 16;
const MAX_AT_ONCE = 4;
const MAX_WAITING = 256;

interface Kept {
  page: Promise<string>;
  madeAt: number;
}

/**
 * Pages that list directories. A page of 2,000 entries costs as many requests to the file system and half a megabyte,
 * so only a few are made at a time, and each is reused for a second.
 */
export class DirectoryPages {
  private readonly now: () => number;
  /** The oldest first. */
  private readonly kept = new Map<string, Kept>();
  private readonly waiting: (() => void)[] = [];
  private running = 0;

  /** `now`: milliseconds of a clock that may jump. */
  constructor(now: () => number = Date.now) {
    this.now = now;
  }

  /**
   * The page of the directory `path`, titled `shown`, in the language of `words`. @throws TunnelError `overloaded`, or an error of the file system.
   */
  async page(path: string, shown: string, words: VisitorWords): Promise<string> {
    const key = `${path}\0${shown}\0${words.language}`;
    const age = this.now() - (this.kept.get(key)?.madeAt ?? Number.NEGATIVE_INFINITY);
    const known = age >= 0 && age < FRESH_MS ? this.kept.get(key) : undefined;
    if (known) return known.page;
    const page = this.inTurn(() => directoryPage(path, shown, words));
    this.keep(key, page);
    return page;
  }

  private keep(key: string, page: Promise<string>): void {
    const entry = { page, madeAt: this.now() };
    this.kept.delete(key);
    this.kept.set(key, entry);
    const [oldest] = this.kept.keys();
    if (this.kept.size > MAX_KEPT && oldest !== undefined) this.kept.delete(oldest);
    const forget = (): void => {
      if (this.kept.get(key) === entry) this.kept.delete(key);
    };
    page.then(() => setFlowTimeout(null, forget, FRESH_MS).unref(), forget);
  }

  private async inTurn<T>(make: () => Promise<T>): Promise<T> {
    if (this.running >= MAX_AT_ONCE) await this.place();
    else this.running += 1;
    try {
      return await make();
    } finally {
      const next = this.waiting.shift();
      // The slot goes to the request that has waited longest.
      if (next) next();
      else this.running -= 1;
    }
  }

  private place(): Promise<void> {
    if (this.waiting.length >= MAX_WAITING) throw new TunnelError('overloaded', 'too many directories are listed');
    return new Promise((resolve) => this.waiting.push(resolve));
  }
}
