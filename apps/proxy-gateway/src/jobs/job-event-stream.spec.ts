import { EventEmitter } from 'node:events';
import type { Response } from 'express';
import type { JobView } from '@gatehouse/contracts';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { RuntimeLogStream } from '../runtime-logs/runtime-log-stream.js';
import { JobEventStream } from './job-event-stream.js';

/** The part of a response that streams use. */
class FakeResponse extends EventEmitter {
  headersSent = false;
  destroyed = false;
  writable = true;
  writableLength = 0;
  text = '';
  ended = false;
  writeHead(): this {
    this.headersSent = true;
    return this;
  }
  write(text: string): boolean {
    this.text += text;
    return true;
  }
  end(): void {
    this.ended = true;
  }
}

const view = { job_id: 'speed-test.x', status: 'running', duration_ms: 1 } as JobView;
const health = { isDraining: false } as never;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('streams that only the server ends', () => {
  it.each([
    [
      'of a job',
      (response: Response) => {
        const watch = {
          watch: (_id: string, watcher: { changed(job: JobView): void }) => {
            watcher.changed(view);
            return Promise.resolve(() => undefined);
          },
        };
        return new JobEventStream(watch as never, health).send('speed-test.x', response);
      },
    ],
    [
      'of the log',
      (response: Response) => {
        const logs = { lastId: () => Promise.resolve(0), tail: () => () => Promise.resolve([]) };
        return new RuntimeLogStream(logs as never, health).send({ level: 'debug' }, undefined, response);
      },
    ],
  ])('%s end after ten minutes, so that credentials are asked for again', async (_what, open) => {
    const response = new FakeResponse();
    const sent = open(response as unknown as Response);
    await vi.advanceTimersByTimeAsync(9 * 60_000);
    expect([response.ended, response.text.includes('still here')]).toEqual([false, true]);
    await vi.advanceTimersByTimeAsync(2 * 60_000);
    expect(response.ended).toBe(true);
    await sent;
    expect(vi.getTimerCount()).toBe(0);
  });
});
