import { describe, expect, it } from 'vitest';
import type { EdgeMessage, EdgeOptions, ParentMessage } from '../common/edge-ipc.js';
import type { EdgeChild } from '../common/edge-process.js';
import { EdgeSupervisor } from './edge-supervisor.js';

const PORTS = { agents: 1, http: 2, https: 3 };

/** A process that says what the test wants. */
class ScriptedChild implements EdgeChild {
  readonly pid = 1;
  readonly sent: ParentMessage[] = [];
  ended = false;
  private readonly listeners = new Map<string, (...values: never[]) => void>();

  send(message: ParentMessage): boolean {
    this.sent.push(message);
    if (message.type !== 'request') return true;
    queueMicrotask(() => {
      this.say({ type: 'response', id: message.id, ok: true, result: null });
      if (message.method === 'shutdown') this.end();
    });
    return true;
  }

  kill(): boolean {
    queueMicrotask(() => this.end());
    return true;
  }

  on(event: string, listener: (...values: never[]) => void): this {
    this.listeners.set(event, listener);
    return this;
  }

  say(message: EdgeMessage): void {
    this.listeners.get('message')?.(message as never);
  }

  end(): void {
    if (this.ended) return;
    this.ended = true;
    this.listeners.get('exit')?.(1 as never, null as never);
  }
}

function supervised(): {
  supervisor: EdgeSupervisor;
  children: ScriptedChild[];
  born: (count: number) => Promise<void>;
} {
  const children: ScriptedChild[] = [];
  let started: () => void = () => undefined;
  const supervisor = new EdgeSupervisor({
    launch: () => {
      const child = new ScriptedChild();
      children.push(child);
      started();
      return child;
    },
    edge: { agents: {}, http: {}, https: {} } as Omit<EdgeOptions, 'takesOver'>,
    onLogs: () => undefined,
    onExit: () => undefined,
  });
  const born = async (count: number): Promise<void> => {
    while (children.length < count) await new Promise<void>((resolve) => (started = resolve));
  };
  return { supervisor, children, born };
}

async function serving(): Promise<ReturnType<typeof supervised>> {
  const all = supervised();
  const started = all.supervisor.start(1_000);
  all.children[0]?.say({ type: 'ready', ports: PORTS });
  await started;
  return all;
}

const asked = (child: ScriptedChild | undefined, method: string): number =>
  child?.sent.filter((message) => message.type === 'request' && message.method === method).length ?? 0;

describe('an edge that an administrator wants to be drained', () => {
  it('retires once, however often it is asked to, and stays the current one', async () => {
    const { children } = await serving();
    for (let times = 0; times < 3; times += 1) children[0]?.say({ type: 'wanted', state: 'drained' });
    expect(asked(children[0], 'retire')).toBe(1);
    expect(children).toHaveLength(1);
  });

  it('is replaced by one that serves when it is no longer drained', async () => {
    const { children, born } = await serving();
    children[0]?.say({ type: 'wanted', state: 'serving' });
    expect(children).toHaveLength(1);
    children[0]?.say({ type: 'wanted', state: 'drained' });
    children[0]?.say({ type: 'wanted', state: 'serving' });
    await born(2);
    children[1]?.say({ type: 'wanted', state: 'serving' });
    expect(children).toHaveLength(2);
  });

  it('serves when its process dies: another one starts', async () => {
    const { children, born } = await serving();
    children[0]?.say({ type: 'wanted', state: 'drained' });
    children[0]?.end();
    await born(2);
    children[1]?.say({ type: 'ready', ports: PORTS });
    children[1]?.say({ type: 'wanted', state: 'drained' });
    expect(asked(children[1], 'retire')).toBe(1);
  });
});

describe('an edge that is being replaced', () => {
  it('leaves no next edge behind when the service stops in the meantime', async () => {
    const { supervisor, children } = await serving();
    const replaced = supervisor.replace();
    const failed = expect(replaced).rejects.toThrow();
    await supervisor.stop(0);
    await failed;
    expect(children.map(({ ended }) => ended)).toEqual([true, true]);
  });

  it('leaves its ports to the next edge if it has not served yet', async () => {
    const { supervisor, children } = supervised();
    expect(await supervisor.start(1)).toEqual({ outcome: 'waiting' });
    const replaced = supervisor.replace();
    children[1]?.say({ type: 'prepared' });
    while (!children[1]?.sent.some(({ type }) => type === 'bind')) await Promise.resolve();
    children[1]?.say({ type: 'ready', ports: PORTS });
    await replaced;
    expect(supervisor.ports).toEqual(PORTS);
    await supervisor.stop(0);
  });

  it('reports why the next edge ended', async () => {
    const { supervisor, children } = await serving();
    const failed = expect(supervisor.replace()).rejects.toThrow('the new edge ended: exit code 1');
    children[1]?.end();
    await failed;
    await supervisor.stop(0);
  });

  it('is not replaced twice if it dies first', async () => {
    const { supervisor, children, born } = await serving();
    const replaced = supervisor.replace();
    const failed = expect(replaced).rejects.toThrow();
    children[0]?.end();
    await born(3);
    children[2]?.say({ type: 'ready', ports: PORTS });
    children[1]?.say({ type: 'prepared' });
    await failed;
    await expect(supervisor.request('ping', null)).resolves.toBeNull();
    expect(children[2]?.sent.some((message) => message.type === 'request' && message.method === 'ping')).toBe(true);
    await supervisor.stop(0);
    expect(children.map(({ ended }) => ended)).toEqual([true, true, true]);
  });
});

it('an edge whose port was taken while the service had started without it is tried again', async () => {
  const { supervisor, children, born } = supervised();
  expect(await supervisor.start(1)).toEqual({ outcome: 'waiting' });
  children[0]?.say({ type: 'failed', port: 'http', code: 'EADDRINUSE', message: '' });
  children[0]?.end();
  await born(2);
  expect(children).toHaveLength(2);
  await supervisor.stop(0);
});
