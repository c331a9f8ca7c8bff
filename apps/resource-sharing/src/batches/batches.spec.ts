import { describe, expect, it } from 'vitest';
import { Batches, wasUndone, type BatchWork } from './batches.js';

interface Call {
  readonly key: string;
  readonly value: number;
}

/** Work whose batches end when the test says so. */
class Work implements BatchWork<Call, number> {
  expected = false;
  readonly begun: (readonly Call[])[] = [];
  private readonly ends: ((failure?: Error) => void)[] = [];
  private readonly starts: (() => void)[] = [];

  run(items: readonly Call[]): Promise<readonly number[]> {
    this.begun.push(items);
    for (const start of this.starts.splice(0)) start();
    return new Promise((resolve, reject) => {
      this.ends.push((failure) => {
        if (failure === undefined) resolve(items.map(({ value }) => value * 2));
        else reject(failure);
      });
    });
  }

  splits(error: unknown): boolean {
    return (error as Error).message === 'not together';
  }

  keyOf({ key }: Call): string {
    return key;
  }

  expects(): boolean {
    return this.expected;
  }

  /** Ends the oldest batch under way, which may have yet to begin. */
  async end(failure?: Error): Promise<void> {
    while (this.ends.length === 0) await new Promise<void>((resolve) => this.starts.push(resolve));
    this.ends.shift()?.(failure);
  }

  get values(): number[][] {
    return this.begun.map((items) => items.map(({ value }) => value));
  }
}

const call = (value: number, key = String(value)): Call => ({ key, value });
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('batches', () => {
  it('run a single call in the same turn of the event loop', async () => {
    const work = new Work();
    const answer = new Batches(work).submit(call(1));
    await turn();
    expect(work.values).toEqual([[1]]);
    await work.end();
    expect(await answer).toBe(2);
  });

  it('run later calls together, each with its own answer', async () => {
    const work = new Work();
    const batches = new Batches(work);
    const first = batches.submit(call(1));
    await turn();
    const others = [2, 3, 4].map((value) => batches.submit(call(value)));
    await turn();
    expect(work.values).toEqual([[1]]);
    await work.end();
    await work.end();
    expect(await Promise.all([first, ...others])).toEqual([2, 4, 6, 8]);
    expect(work.values).toEqual([[1], [2, 3, 4]]);
  });

  it('run the calls of one key in order, without delaying other keys', async () => {
    const work = new Work();
    const batches = new Batches(work);
    const answers = [call(1, 'a'), call(2, 'a'), call(3, 'a'), call(4, 'b')].map((one) => batches.submit(one));
    for (let i = 0; i < 3; i++) await work.end();
    await Promise.all(answers);
    expect(work.values).toEqual([[1, 4], [2], [3]]);
  });

  it('have a size limit; further calls wait for the next batch', async () => {
    const work = new Work();
    const batches = new Batches(work);
    const answers = Array.from({ length: 70 }, (_, value) => batches.submit(call(value)));
    for (let i = 0; i < 3; i++) await work.end();
    await Promise.all(answers);
    expect(work.begun.map((items) => items.length)).toEqual([32, 32, 6]);
  });

  it('run up to four at a time if one takes long', async () => {
    const work = new Work();
    const batches = new Batches(work);
    const answers: Promise<number>[] = [];
    for (let value = 1; value <= 4; value++) {
      answers.push(batches.submit(call(value)));
      while (work.begun.length < value) await turn();
    }
    answers.push(batches.submit(call(5)));
    for (let i = 0; i < 4; i++) await work.end();
    await work.end();
    expect(await Promise.all(answers)).toEqual([2, 4, 6, 8, 10]);
    expect(work.values).toEqual([[1], [2], [3], [4], [5]]);
  });

  it('wait briefly for calls that are about to arrive', async () => {
    const work = new Work();
    const batches = new Batches(work);
    work.expected = true;
    const first = batches.submit(call(1));
    await turn();
    expect(work.begun).toEqual([]);
    work.expected = false;
    const second = batches.submit(call(2));
    await work.end();
    expect(await Promise.all([first, second])).toEqual([2, 4]);
    expect(work.values).toEqual([[1, 2]]);
    work.expected = true;
    const third = batches.submit(call(3));
    await work.end();
    expect(await third).toBe(6);
    expect(batches.busy).toBe(false);
  });

  it('run calls one by one if they cannot run together', async () => {
    const work = new Work();
    const batches = new Batches(work);
    const answers = [1, 2, 3].map((value) => batches.submit(call(value)));
    const settled = Promise.allSettled(answers);
    await work.end(new Error('not together'));
    await work.end();
    await work.end(new Error('not this one'));
    await work.end();
    expect((await settled).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(work.values).toEqual([[1, 2, 3], [1], [2], [3]]);
  });

  it('are not repeated if the outcome of a failure is unknown', async () => {
    const work = new Work();
    const batches = new Batches(work);
    const settled = Promise.allSettled([1, 2].map((value) => batches.submit(call(value))));
    await work.end(new Error('the connection is gone'));
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(work.begun).toHaveLength(1);
    const next = batches.submit(call(3));
    await work.end();
    expect(await next).toBe(6);
  });

  it('queue a limited number of calls behind work that hangs', async () => {
    const work = new Work();
    const batches = new Batches(work);
    const first = batches.submit(call(1));
    await turn();
    const waiting = Array.from({ length: 10_000 }, () => batches.submit(call(2, 'one')));
    await expect(batches.submit(call(3))).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await work.end();
    await first;
    await work.end();
    expect(await waiting[0]).toBe(4);
    const next = batches.submit(call(3));
    await work.end();
    await work.end();
    expect(await next).toBe(6);
  });
});

describe('an error', () => {
  it.each([
    ['of a lock that was not to be had', { severity: 'ERROR', code: '55P03' }, true],
    ['of a server that speaks another language', { severity: 'FEHLER', code: '57014' }, true],
    ['of a connection that was ended', { severity: 'FATAL', code: '57P01' }, false],
    ['of a commit of which nobody knows', { severity: 'ERROR', code: '40003' }, false],
    ['of the socket', { code: 'EPIPE' }, false],
    ['of this process', new Error('no'), false],
  ])('%s', (_, error, undone) => {
    expect(wasUndone(error)).toBe(undone);
  });
});
