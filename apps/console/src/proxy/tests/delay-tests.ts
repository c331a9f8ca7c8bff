import type { NodeTestResult } from '@gatehouse/contracts';

/** What is known about a node from tests that this page has asked for. */
export type DelayState =
  { state: 'waiting' | 'testing' } | { state: 'done'; alive: boolean; delayMs: number | null; message: string | null };

export interface TestTally {
  total: number;
  tested: number;
  failed: number;
}

export interface TestRun {
  test: (id: number) => Promise<NodeTestResult>;
  /** Ends the run: nodes that wait are not tested. */
  signal: AbortSignal;
  onProgress?: (tally: TestTally) => void;
}

/** The service tests more at once; these are only the requests that wait for it. */
const AT_ONCE = 8;

/** Tests of single nodes, so that every place that shows a node shows the result as soon as it is there. */
export class DelayTests {
  readonly #states = new Map<number, DelayState>();
  readonly #listeners = new Map<number, Set<() => void>>();

  of(id: number): DelayState | undefined {
    return this.#states.get(id);
  }

  /** Calls the listener with each change of a node, until the returned function is called. */
  onChange(id: number, listener: () => void): () => void {
    const present = this.#listeners.get(id) ?? new Set();
    this.#listeners.set(id, present.add(listener));
    return () => {
      present.delete(listener);
      if (present.size === 0) this.#listeners.delete(id);
    };
  }

  /** Tests nodes, a few at a time. A test that cannot be made counts as failed; the others go on. */
  async run(ids: readonly number[], { test, signal, onProgress }: TestRun): Promise<TestTally> {
    const tally: TestTally = { total: ids.length, tested: 0, failed: 0 };
    for (const id of ids) this.#set(id, { state: 'waiting' });
    const waiting = ids.values();
    const worker = async (): Promise<void> => {
      for (const id of waiting) {
        if (signal.aborted) {
          this.forget([id]);
          continue;
        }
        this.#set(id, { state: 'testing' });
        const result = await this.#test(id, test);
        this.#set(id, result);
        tally.tested += 1;
        if (!result.alive) tally.failed += 1;
        onProgress?.({ ...tally });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    return tally;
  }

  /** Drops results, once the lists that show the nodes have newer ones. */
  forget(ids: readonly number[]): void {
    for (const id of ids) this.#set(id, undefined);
  }

  async #test(id: number, test: TestRun['test']): Promise<DelayState & { state: 'done' }> {
    try {
      const { ok, delay_ms: delayMs, error } = await test(id);
      return { state: 'done', alive: ok, delayMs, message: error?.message ?? null };
    } catch (error) {
      return { state: 'done', alive: false, delayMs: null, message: error instanceof Error ? error.message : '' };
    }
  }

  #set(id: number, state: DelayState | undefined): void {
    if (state === undefined) this.#states.delete(id);
    else this.#states.set(id, state);
    for (const listener of this.#listeners.get(id) ?? []) listener();
  }
}

/** Of this page. */
export const delayTests = new DelayTests();
