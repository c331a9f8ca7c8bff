import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { EdgeMessage, EdgeOptions, ParentMessage } from './edge-ipc.js';
import { EdgeProcess, type EdgeChild } from './edge-process.js';

/** A process that answers as long as the test wants it to. */
class HangingChild implements EdgeChild {
  readonly pid = 1;
  answers = false;
  private readonly listeners = new Map<string, (...values: never[]) => void>();

  send(message: ParentMessage): boolean {
    if (this.answers && message.type === 'request') {
      const answer: EdgeMessage = { type: 'response', id: message.id, ok: true, result: null };
      queueMicrotask(() => this.listeners.get('message')?.(answer as never));
    }
    return true;
  }

  kill(): boolean {
    this.listeners.get('exit')?.(null as never, 'SIGKILL' as never);
    return true;
  }

  on(event: string, listener: (...values: never[]) => void): this {
    this.listeners.set(event, listener);
    return this;
  }
}

let child: HangingChild;
let ends: string[];
let edge: EdgeProcess;

beforeEach(() => {
  vi.useFakeTimers();
  child = new HangingChild();
  ends = [];
  const nothing = (): void => undefined;
  const exited = (reason: string): number => ends.push(reason);
  edge = new EdgeProcess(child, {} as EdgeOptions, {
    prepared: nothing,
    ready: nothing,
    failed: nothing,
    logs: nothing,
    exited,
  });
});
afterEach(() => {
  edge.kill();
  vi.useRealTimers();
});

describe('an edge process', () => {
  it('is killed after 15 s without an answer', async () => {
    child.answers = true;
    await vi.advanceTimersByTimeAsync(20_000);
    child.answers = false;
    await vi.advanceTimersByTimeAsync(14_000);
    expect(ends).toEqual([]);
    await vi.advanceTimersByTimeAsync(6_000);
    expect(ends).toEqual(['no answer for 15 s']);
  });

  it('has a minute to start', async () => {
    await vi.advanceTimersByTimeAsync(55_000);
    expect(ends).toEqual([]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(ends).toEqual(['no answer for 60 s']);
  });
});
