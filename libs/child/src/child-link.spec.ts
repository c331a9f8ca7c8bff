import { EventEmitter } from 'node:events';
import { fork, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ChildLink, type ChildLike } from './child-link.js';

interface TestCalls {
  ping: { params: null; result: null };
  double: { params: number; result: number };
}
type Sent = { type: 'request'; id: number; method: string; params: unknown } | { type: 'note'; text: string };
type Received =
  | { type: 'response'; id: number; ok: true; result: unknown }
  | { type: 'response'; id: number; ok: false; message: string }
  | { type: 'note'; text: string };

const notes: string[] = [];
const exits: string[] = [];

function linkTo(child: ChildLike<Sent, Received>): ChildLink<TestCalls, Sent, Received> {
  return new ChildLink<TestCalls, Sent, Received>(child, {
    name: 'helper',
    unavailable: (message) => new Error(message),
    errorOf: (answer) => new RangeError('message' in answer ? answer.message : 'failed'),
    onMessage: (message) => message.type === 'note' && notes.push(message.text),
    onExit: (reason) => exits.push(reason),
  });
}

beforeEach(() => {
  notes.length = 0;
  exits.length = 0;
});

describe('a link to a real process', () => {
  const PROGRAM = `
    process.on('message', ({ type, id, method, params, text }) => {
      if (type === 'note') process.send({ type: 'note', text: text + ' back' });
      else if (method === 'double' && params > 100) process.send({ type: 'response', id, ok: false, message: 'too large' });
      else if (method === 'double') process.send({ type: 'response', id, ok: true, result: params * 2 });
    });`;
  let folder: string;
  let child: ChildProcess;
  let link: ChildLink<TestCalls, Sent, Received>;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'child-link-'));
    writeFileSync(join(folder, 'program.mjs'), PROGRAM);
    child = fork(join(folder, 'program.mjs'));
    link = linkTo(child);
  });
  afterEach(async () => {
    link.kill();
    await link.exited;
    rmSync(folder, { recursive: true, force: true });
  });

  it('gets answers, errors and other messages', async () => {
    expect(await Promise.all([link.request('double', 21, 30_000), link.request('double', 4, 30_000)])).toEqual([42, 8]);
    await expect(link.request('double', 101, 30_000)).rejects.toThrow(new RangeError('too large'));
    link.send({ type: 'note', text: 'there and' });
    await link.request('double', 1, 30_000);
    expect(notes).toEqual(['there and back']);
  });

  it('rejects open requests when the process ends, and all later ones', async () => {
    const open = link.request('ping', null, 30_000);
    const rejected = expect(open).rejects.toThrow('The helper ended: killed by SIGKILL.');
    link.kill();
    await rejected;
    await expect(link.request('double', 1, 30_000)).rejects.toThrow('The helper is not running.');
    expect(exits).toEqual(['killed by SIGKILL']);
    expect(link.isGone).toBe(true);
  });
});

/** A process that answers while `answers` is true. */
class ScriptedChild extends EventEmitter implements ChildLike<Sent, Received> {
  readonly pid = 1;
  answers = true;
  reachable = true;

  send(message: Sent, callback: (error: Error | null) => void): boolean {
    if (!this.reachable) queueMicrotask(() => callback(new Error('channel closed')));
    else if (this.answers && message.type === 'request') {
      queueMicrotask(() => this.emit('message', { type: 'response', id: message.id, ok: true, result: null }));
    }
    return true;
  }

  kill(): boolean {
    this.emit('exit', null, 'SIGKILL');
    return true;
  }
}

describe('a link to a process that does not answer', () => {
  let child: ScriptedChild;
  let link: ChildLink<TestCalls, Sent, Received>;
  beforeEach(() => {
    vi.useFakeTimers();
    child = new ScriptedChild();
    link = linkTo(child);
  });
  afterEach(() => vi.useRealTimers());

  it('rejects a request after its time limit, and ignores a late answer', async () => {
    child.answers = false;
    const rejected = expect(link.request('ping', null, 500)).rejects.toThrow('did not answer ping within 500 ms');
    await vi.advanceTimersByTimeAsync(500);
    await rejected;
    child.emit('message', { type: 'response', id: 1, ok: true, result: null });
    expect(exits).toEqual([]);
  });

  it('rejects a request at once when the channel is closed', async () => {
    child.reachable = false;
    await expect(link.request('ping', null, 60_000)).rejects.toThrow('The helper cannot be reached.');
  });

  it('kills the process after a number of missed heartbeats, which is larger before the first answer', async () => {
    child.answers = false;
    link.watch({ everyMs: 1_000, missed: 3, missedAtStart: 6 });
    await vi.advanceTimersByTimeAsync(5_950);
    expect(exits).toEqual([]);
    child.answers = true;
    await vi.advanceTimersByTimeAsync(2_000);
    child.answers = false;
    await vi.advanceTimersByTimeAsync(2_500);
    expect(exits).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(exits).toEqual(['no answer for 3 s']);
  });

  it('sends nothing to a process that has ended', async () => {
    link.watch({ everyMs: 1_000, missed: 3 });
    const send = vi.spyOn(child, 'send');
    link.kill('not needed');
    await vi.advanceTimersByTimeAsync(10_000);
    expect(send).not.toHaveBeenCalled();
    expect(exits).toEqual(['not needed']);
  });
});
