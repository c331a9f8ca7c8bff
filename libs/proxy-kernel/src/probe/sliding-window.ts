import { setFlowTimeout } from '@gatehouse/net';
import type { NodeProber, ProbeOptions, ProbeResult, ProbeTarget } from '../interfaces/probe.js';

export interface SlidingWindowOptions<T> {
  /** The most items at once. */
  concurrency: number;
  /** The most items at once with the same key. */
  perKey: number;
  keyOf(item: T): string;
  /** Spreads the first items over this time. Default 0. */
  jitterMs?: number;
  signal?: AbortSignal | undefined;
}

/**
 * Runs `work` once for each item, starting the next as soon as one ends. Rejects with the first failure or the signal's
 * reason, starts nothing after that, and settles only when all running work has ended.
 */
export function slideOver<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<void>,
  options: SlidingWindowOptions<T>,
): Promise<void> {
  return new SlidingWindow(items, work, options).run();
}

class SlidingWindow<T> {
  readonly #items: Iterator<T>;
  readonly #work: (item: T) => Promise<void>;
  readonly #options: SlidingWindowOptions<T>;
  /** Items that wait because their key is full, by key. */
  readonly #parked = new Map<string, T[]>();
  /** Waiting items whose key has room again. */
  readonly #unparked: T[] = [];
  readonly #runningByKey = new Map<string, number>();
  #running = 0;
  #started = 0;
  #failure: { reason: unknown } | null = null;
  #settle: () => void = () => undefined;
  /** Starts that the jitter delays. */
  readonly #waiting = new Set<() => void>();

  constructor(items: Iterable<T>, work: (item: T) => Promise<void>, options: SlidingWindowOptions<T>) {
    this.#items = items[Symbol.iterator]();
    this.#work = work;
    this.#options = options;
  }

  async run(): Promise<void> {
    const { signal } = this.#options;
    const onAbort = (): void => this.#stop(signal?.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) onAbort();
    await new Promise<void>((resolve) => {
      this.#settle = resolve;
      this.#fill();
    });
    signal?.removeEventListener('abort', onAbort);
    if (this.#failure) throw this.#failure.reason;
  }

  /** For errors of the caller's iterator or keys: the run ends with them once no work is running. */
  #end(reason: unknown): void {
    this.#stop(reason);
    if (this.#running === 0) this.#settle();
  }

  #stop(reason: unknown): void {
    this.#failure ??= { reason };
    for (const wake of this.#waiting) wake();
  }

  #fill(): void {
    while (!this.#failure && this.#running < this.#options.concurrency) {
      const next = this.#next();
      if (!next) break;
      this.#start(next.item, next.key).catch((reason: unknown) => this.#end(reason));
    }
    if (this.#running === 0) this.#settle();
  }

  #next(): { item: T; key: string } | null {
    for (;;) {
      const ready = this.#unparked.shift();
      const step = ready === undefined ? this.#items.next() : { done: false as const, value: ready };
      if (step.done) return null;
      const item = step.value;
      const key = this.#options.keyOf(item);
      if ((this.#runningByKey.get(key) ?? 0) < this.#options.perKey) return { item, key };
      this.#park(item, key);
    }
  }

  #park(item: T, key: string): void {
    const parked = this.#parked.get(key);
    if (parked) parked.push(item);
    else this.#parked.set(key, [item]);
  }

  async #start(item: T, key: string): Promise<void> {
    this.#running += 1;
    this.#runningByKey.set(key, (this.#runningByKey.get(key) ?? 0) + 1);
    try {
      await this.#spread();
      if (!this.#failure) await this.#work(item);
    } catch (error) {
      this.#stop(error);
    }
    this.#running -= 1;
    this.#leave(key);
    this.#fill();
  }

  #leave(key: string): void {
    const left = (this.#runningByKey.get(key) ?? 1) - 1;
    if (left > 0) this.#runningByKey.set(key, left);
    else this.#runningByKey.delete(key);
    const parked = this.#parked.get(key);
    const item = parked?.shift();
    if (item !== undefined) this.#unparked.push(item);
    if (parked?.length === 0) this.#parked.delete(key);
  }

  #spread(): Promise<void> | undefined {
    const { concurrency, jitterMs = 0 } = this.#options;
    this.#started += 1;
    if (this.#started > concurrency || jitterMs <= 0) return undefined;
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setFlowTimeout(null, wake, Math.random() * jitterMs);
      this.#waiting.add(wake);
    });
  }
}

export interface MeasureAllOptions<T extends ProbeTarget> extends ProbeOptions {
  /** The most measurements at once. Default 128. */
  concurrency?: number;
  /** The most measurements at once that connect to the same server. Default 8. */
  perAddress?: number;
  /** Spreads the first measurements over this time, to avoid a burst. Default 100. */
  jitterMs?: number;
  /** Called once for each target, when its measurement ends; an error here ends everything. */
  onResult(target: T, result: ProbeResult): void | Promise<void>;
}

const DEFAULTS = { concurrency: 128, perAddress: 8, jitterMs: 100 };

/**
 * Measures each target once in a sliding window: the next begins as soon as one ends. Rejects with the signal's reason
 * when it is aborted, after all running measurements have ended.
 */
export function measureAll<T extends ProbeTarget>(
  prober: NodeProber,
  targets: Iterable<T>,
  options: MeasureAllOptions<T>,
): Promise<void> {
  const { concurrency, perAddress, jitterMs } = { ...DEFAULTS, ...options };
  return slideOver<T>(
    targets,
    async (target) => {
      const result = await prober.probe(target, options);
      await options.onResult(target, result);
    },
    { concurrency, perKey: perAddress, keyOf: firstServer, jitterMs, signal: options.signal },
  );
}

/** The server that this machine connects to. */
function firstServer({ node, via }: ProbeTarget): string {
  return (via?.[0] ?? node).server.toLowerCase();
}
