import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ApiRequest } from './api-client.js';
import { LiveChanges, type StreamTabs } from './live-changes.js';
import type { SessionState } from './session.js';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** One browser with a service: tabs hear each other, and one of them has the lock. */
class Browser {
  readonly #listeners: ((message: unknown) => void)[] = [];
  #lock: Promise<unknown> = Promise.resolve();
  /** Streams that are open at the service. */
  readonly streams: ReadableStreamDefaultController<Uint8Array>[] = [];
  refuses = false;

  open({ withLocks = true } = {}) {
    let report: (state: SessionState) => void = () => undefined;
    const changes = new LiveChanges({ open: (_path, request) => this.#stream(request) }, this.#tabs(withLocks));
    changes.attach({ onChange: (listener) => ((report = listener), () => undefined) });
    const onChange = vi.fn<() => void>();
    changes.follow(['nodes', 'groups'], onChange);
    return { changes, onChange, become: (state: SessionState) => report(state) };
  }

  async send(...areas: string[]): Promise<void> {
    const text = `event: changed\ndata: ${JSON.stringify({ areas })}\n\n`;
    for (const stream of this.streams) stream.enqueue(new TextEncoder().encode(text));
    await vi.advanceTimersByTimeAsync(0);
  }

  #tabs(withLocks: boolean): StreamTabs {
    const at = this.#listeners.push(() => undefined) - 1;
    return {
      send: (news) => this.#listeners.forEach((listener, index) => index !== at && listener(news)),
      onMessage: (listener) => (this.#listeners[at] = listener),
      lead: withLocks ? (signal, work) => this.#lead(signal, work) : null,
    };
  }

  #lead(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
    const run = this.#lock.then(() => (signal.aborted ? undefined : work()));
    this.#lock = run;
    return run;
  }

  #stream({ signal }: ApiRequest & { signal: AbortSignal }): Promise<ReadableStream<Uint8Array>> {
    if (this.refuses) return Promise.reject(new Error('away'));
    return Promise.resolve(
      new ReadableStream<Uint8Array>({
        start: (controller) => {
          this.streams.push(controller);
          signal.addEventListener('abort', () => {
            this.streams.splice(this.streams.indexOf(controller), 1);
            controller.error(signal.reason);
          });
        },
      }),
    );
  }
}

async function tabs(browser: Browser, count: number) {
  const all = Array.from({ length: count }, () => browser.open());
  for (const tab of all) tab.become('signed-in');
  await vi.advanceTimersByTimeAsync(0);
  for (const { onChange } of all) onChange.mockClear();
  return all as [(typeof all)[0], (typeof all)[0]];
}

describe('live changes', () => {
  it('reach all tabs over one stream, and only those who follow the area', async () => {
    const browser = new Browser();
    const [one, two] = await tabs(browser, 2);
    expect([browser.streams.length, one.changes.live, two.changes.live]).toEqual([1, true, true]);
    await browser.send('rules');
    expect([one.onChange.mock.calls.length, two.onChange.mock.calls.length]).toEqual([0, 0]);
    await browser.send('rules', 'nodes');
    expect([one.onChange.mock.calls.length, two.onChange.mock.calls.length]).toEqual([1, 1]);
    await browser.send('*');
    expect([one.onChange.mock.calls.length, two.onChange.mock.calls.length]).toEqual([2, 2]);
  });

  it('go on in another tab when the one with the stream leaves', async () => {
    const browser = new Browser();
    const [one, two] = await tabs(browser, 2);
    one.become('signed-out');
    await vi.advanceTimersByTimeAsync(0);
    expect([browser.streams.length, one.changes.live, two.changes.live]).toEqual([1, false, true]);
    await browser.send('nodes');
    expect(two.onChange).toHaveBeenCalled();
  });

  it('are announced as unknown when the stream breaks and when it is back', async () => {
    const browser = new Browser();
    const [one, two] = await tabs(browser, 2);
    browser.refuses = true;
    browser.streams.pop()?.close();
    await vi.advanceTimersByTimeAsync(0);
    expect([one.changes.live, two.changes.live, two.onChange.mock.calls.length]).toEqual([false, false, 1]);
    browser.refuses = false;
    await vi.advanceTimersByTimeAsync(3_000);
    expect([one.changes.live, two.changes.live, two.onChange.mock.calls.length]).toEqual([true, true, 2]);
  });

  it('are not expected where the browser has no locks', async () => {
    const browser = new Browser();
    const tab = browser.open({ withLocks: false });
    tab.become('open');
    await vi.advanceTimersByTimeAsync(0);
    expect([browser.streams.length, tab.changes.live]).toEqual([0, false]);
  });
});
