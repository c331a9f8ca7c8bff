import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { KernelConfigError } from '@gatehouse/proxy-kernel';
import { KernelUnavailableError } from './kernel-errors.js';
import type { ChildMessage, EventBatch, ParentMessage } from '../common/kernel-ipc.js';
import { KernelProcess } from './kernel-process.js';
import type { Clock } from '@gatehouse/child';
import type { KernelChild, KernelProcessOptions } from './kernel-process.js';

class FakeClock implements Clock {
  time = 0;
  #timers: { at: number; run: () => void }[] = [];

  now(): number {
    return this.time;
  }

  after(ms: number, run: () => void): () => void {
    const timer = { at: this.time + ms, run };
    this.#timers.push(timer);
    return () => (this.#timers = this.#timers.filter((other) => other !== timer));
  }

  get waits(): number[] {
    return this.#timers.map(({ at }) => at - this.time).sort((a, b) => a - b);
  }

  /** Runs due timers and lets promises settle in between. */
  async advance(ms: number): Promise<void> {
    const end = this.time + ms;
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      const due = this.#timers.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (!due) break;
      this.#timers = this.#timers.filter((other) => other !== due);
      this.time = due.at;
      due.run();
    }
    this.time = end;
  }
}

class FakeChild extends EventEmitter implements KernelChild {
  readonly sent: ParentMessage[] = [];
  readonly pid: number;
  answers: (message: ParentMessage) => ChildMessage | null = () => null;
  unreachable = false;

  constructor(pid: number) {
    super();
    this.pid = pid;
  }

  send(message: ParentMessage, callback: (error: Error | null) => void): boolean {
    this.sent.push(message);
    callback(this.unreachable ? new Error('channel closed') : null);
    const answer = this.answers(message);
    if (answer) this.emit('message', answer);
    return true;
  }

  kill(signal: string): boolean {
    this.emit('exit', null, signal);
    return true;
  }
}

function supervised(options: Partial<KernelProcessOptions> = {}) {
  const clock = new FakeClock();
  const children: FakeChild[] = [];
  const batches: EventBatch[] = [];
  const exits: string[] = [];
  let ready = 0;
  const kernel = new KernelProcess({
    fork: () => {
      const child = new FakeChild(100 + children.length);
      children.push(child);
      return child;
    },
    clock,
    onReady: () => ready++,
    onEvents: (batch) => batches.push(batch),
    onExit: (reason) => exits.push(reason),
    ...options,
  });
  const last = (): FakeChild => children.at(-1)!;
  const become = (): boolean => last().emit('message', { type: 'ready', pid: last().pid } satisfies ChildMessage);
  return { clock, children, batches, exits, kernel, last, become, readyCount: () => ready };
}

describe('KernelProcess', () => {
  it('answers only after its child is ready', async () => {
    const { kernel, become, last, readyCount } = supervised();
    kernel.start();
    await expect(kernel.request('status', null)).rejects.toThrow(KernelUnavailableError);
    become();
    expect(readyCount()).toBe(1);
    last().answers = (message) => ({ type: 'response', id: message.id, ok: true, result: ['c1'] });
    await expect(kernel.request('connections', null)).resolves.toEqual(['c1']);
  });

  it('matches answers to requests in any order', async () => {
    const { kernel, become, last } = supervised();
    kernel.start();
    become();
    const first = kernel.request('closeConnection', { id: 'a' });
    const second = kernel.request('closeConnection', { id: 'b' });
    const [one, two] = last().sent;
    last().emit('message', { type: 'response', id: two!.id, ok: true, result: false });
    last().emit('message', { type: 'response', id: one!.id, ok: true, result: true });
    expect(await Promise.all([first, second])).toEqual([true, false]);
  });

  it('returns a configuration error as such', async () => {
    const { kernel, become, last } = supervised();
    kernel.start();
    become();
    last().answers = ({ id }) => ({
      type: 'response',
      id,
      ok: false,
      error: { name: 'KernelConfigError', message: 'rules[3]: bad CIDR', path: 'rules[3]' },
    });
    const error = await kernel.request('select', { group: 'g', member: 'm' }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(KernelConfigError);
    expect((error as KernelConfigError).path).toBe('rules[3]');
    expect((error as KernelConfigError).message).toBe('rules[3]: bad CIDR');
  });

  it('fails open requests when the child dies, and starts another within a second', async () => {
    const { kernel, become, last, children, clock, exits } = supervised();
    kernel.start();
    become();
    const open = kernel.request('status', null);
    last().kill('SIGKILL');
    await expect(open).rejects.toThrow(/killed by SIGKILL/);
    expect(kernel.state).toBe('restarting');
    await clock.advance(1_000);
    expect(children).toHaveLength(2);
    become();
    expect(kernel.state).toBe('running');
    expect(kernel.restarts).toBe(1);
    expect(exits).toEqual(['killed by SIGKILL']);
  });

  it('waits longer after each death in a row, up to a bound, and starts over after a stable run', async () => {
    const { kernel, become, last, clock } = supervised({ restartMs: 50, maxRestartMs: 800, stableMs: 10_000 });
    kernel.start();
    const waits: number[] = [];
    for (let death = 0; death < 7; death++) {
      become();
      last().kill('SIGKILL');
      waits.push(clock.waits[0]!);
      await clock.advance(800);
    }
    expect(waits).toEqual([50, 100, 200, 400, 800, 800, 800]);
    become();
    last().answers = ({ id }) => ({ type: 'response', id, ok: true, result: null });
    await clock.advance(20_000);
    last().kill('SIGKILL');
    expect(clock.waits[0]).toBe(50);
  });

  it('replaces a child that never becomes ready', async () => {
    const { kernel, children, clock, exits } = supervised({ readyTimeoutMs: 3_000 });
    kernel.start();
    await clock.advance(3_100);
    expect(exits).toEqual(['not ready after 3 s']);
    expect(children).toHaveLength(2);
  });

  it('replaces a child that stops answering', async () => {
    const { kernel, become, children, clock, exits } = supervised({ heartbeatMs: 1_000 });
    kernel.start();
    become();
    await clock.advance(7_000);
    expect(exits).toEqual(['no answer for 6 s']);
    expect(children).toHaveLength(2);
  });

  it('gives up on an answer after a time, and ignores it when it comes late', async () => {
    const { kernel, become, last, clock } = supervised({ heartbeatMs: 60_000 });
    kernel.start();
    become();
    const late = kernel.request('status', null, 500);
    const rejected = expect(late).rejects.toThrow(/within 500 ms/);
    await clock.advance(600);
    await rejected;
    last().emit('message', { type: 'response', id: last().sent[0]!.id, ok: true, result: {} });
    expect(kernel.state).toBe('running');
  });

  it('fails at once when the channel is closed', async () => {
    const { kernel, become, last } = supervised();
    kernel.start();
    become();
    last().unreachable = true;
    await expect(kernel.request('status', null)).rejects.toThrow(/cannot be reached/);
  });

  it('passes events on', () => {
    const { kernel, become, last, batches } = supervised();
    kernel.start();
    become();
    const batch = { closed: [], traffic: [], logs: [], dropped: { closed: 1, traffic: 0, logs: 0 } };
    last().emit('message', { type: 'events', ...batch });
    expect(batches[0]).toMatchObject(batch);
  });

  it('stops for good when asked to', async () => {
    const { kernel, become, last, children, clock } = supervised();
    kernel.start();
    become();
    const child = last();
    child.answers = ({ id }) => {
      setImmediate(() => child.emit('exit', 0, null));
      return { type: 'response', id, ok: true, result: null };
    };
    await kernel.stop(10);
    await clock.advance(5_000);
    expect(child.sent.at(-1)).toMatchObject({ method: 'shutdown', params: { graceMs: 10 } });
    expect(kernel.state).toBe('stopped');
    expect(children).toHaveLength(1);
  });

  it('kills a child that will not stop', async () => {
    const { kernel, become, clock } = supervised();
    kernel.start();
    become();
    const stopped = kernel.stop(10);
    await clock.advance(5_000);
    await stopped;
    expect(kernel.state).toBe('stopped');
  });
});
