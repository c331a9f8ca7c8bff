import { KernelConfigError } from '@gatehouse/proxy-kernel';
import type { ConnectionRecord, KernelEvents, ProxyKernel } from '@gatehouse/proxy-kernel';
import { describe, expect, it } from 'vitest';
import { KernelChild } from './kernel-child.js';
import { KernelEventQueue } from './kernel-event-queue.js';
import type { ChildMessage, ParentMessage } from '../common/kernel-ipc.js';

function setup(kernel: Partial<ProxyKernel> = {}) {
  const sent: ChildMessage[] = [];
  const order: string[] = [];
  const listeners: Partial<KernelEvents> = {};
  const send = (message: ChildMessage): Promise<void> => {
    sent.push(message);
    order.push(message.type);
    return Promise.resolve();
  };
  const events = new KernelEventQueue((batch) => send({ type: 'events', ...batch }), 60_000);
  const whole = {
    on: (event: keyof KernelEvents, listener: never) => void (listeners[event] = listener),
    close: () => {
      listeners.closed?.({ id: 'last' } as ConnectionRecord);
      return Promise.resolve();
    },
    ...kernel,
  } as unknown as ProxyKernel;
  const child = new KernelChild(whole, events, { send, exit: (code) => void order.push(`exit ${code}`) });
  const ask = (message: Omit<ParentMessage, 'type' | 'id'>) =>
    child.handle({ type: 'request', id: 7, ...message } as ParentMessage);
  return { sent, order, ask, listeners };
}

describe('KernelChild', () => {
  it('answers with the result of the kernel, under the id of the request', async () => {
    const { ask, sent } = setup({ closeConnection: (id) => id === 'c1' });
    await ask({ method: 'closeConnection', params: { id: 'c1' } });
    expect(sent).toEqual([{ type: 'response', id: 7, ok: true, result: true }]);
  });

  it('passes on a configuration error with its path', async () => {
    const { ask, sent } = setup({
      select: () => {
        throw new KernelConfigError('PROXY', 'n9 is no member');
      },
    });
    await ask({ method: 'select', params: { group: 'PROXY', member: 'n9' } });
    expect(sent[0]).toMatchObject({
      ok: false,
      error: { name: 'KernelConfigError', path: 'PROXY', message: 'PROXY: n9 is no member' },
    });
  });

  it('closes the connections of one group only', async () => {
    const closed: string[] = [];
    const connections = [
      { id: 'a', chain: ['PROXY', 'n1'] },
      { id: 'b', chain: ['DIRECT'] },
      { id: 'c', chain: ['OTHER', 'PROXY', 'n2'] },
    ];
    const { ask, sent } = setup({
      connections: () => connections as ReturnType<ProxyKernel['connections']>,
      closeConnection: (id) => (closed.push(id), id !== 'c'),
    });
    await ask({ method: 'closeConnections', params: { group: 'PROXY' } });
    // The second had ended in the meantime.
    expect([closed, sent[0]]).toEqual([['a', 'c'], { type: 'response', id: 7, ok: true, result: 1 }]);
  });

  it('closes the connections that a group sent through one member, or some by their ids', async () => {
    const closed: string[] = [];
    const connections = [
      { id: 'a', chain: ['PROXY', 'n1'] },
      { id: 'b', chain: ['PROXY', 'n2'] },
      { id: 'c', chain: ['n1'] },
    ];
    const { ask, sent } = setup({
      connections: () => connections as ReturnType<ProxyKernel['connections']>,
      closeConnection: (id) => (closed.push(id), true),
    });
    await ask({ method: 'closeConnections', params: { group: 'PROXY', member: 'n1' } });
    await ask({ method: 'closeConnections', params: { ids: ['b', 'c', 'z'] } });
    await ask({ method: 'closeConnections', params: { ids: [] } });
    expect(closed).toEqual(['a', 'b', 'c']);
    expect(sent.map((message) => message.type === 'response' && message.ok && message.result)).toEqual([1, 2, 0]);
  });

  it('passes on measurements and reports what groups use', async () => {
    const reports: unknown[] = [];
    const groups = [{ name: 'AUTO', type: 'url-test', members: ['n1'], now: 'n1', fixed: false } as const];
    const { ask, sent } = setup({ setHealth: (...given) => void reports.push(given), groups: () => [...groups] });
    const report = { n1: { alive: true, delayMs: 5, testedAt: 1 } };
    await ask({ method: 'setHealth', params: { testUrl: null, report } });
    await ask({ method: 'groupsInUse', params: null });
    expect(reports).toEqual([[null, report]]);
    expect(sent[1]).toMatchObject({ ok: true, result: [{ name: 'AUTO', now: 'n1', fixed: false }] });
  });

  it('reports what groups use and what open connections carry at once', async () => {
    const groups = [{ name: 'AUTO', type: 'url-test', members: ['n1'], now: 'n1', fixed: false } as const];
    const connections = [
      { chain: ['AUTO', 'n1'], upload: 1, download: 2 },
      { chain: ['n1'], upload: 3, download: 4 },
    ] as unknown as ReturnType<ProxyKernel['connections']>;
    const { ask, sent } = setup({ groups: () => [...groups], connections: () => connections });
    await ask({ method: 'inUse', params: null });
    const usage = {
      AUTO: { connections: 1, upload: 1, download: 2 },
      n1: { connections: 2, upload: 4, download: 6 },
    };
    const state = { name: 'AUTO', type: 'url-test', now: 'n1', fixed: false };
    expect(sent).toEqual([{ type: 'response', id: 7, ok: true, result: { groups: [state], usage } }]);
  });

  it('reports switches and circuits', async () => {
    const { ask, sent, listeners } = setup();
    const change = { at: 1, group: 'AUTO', from: 'n1', to: 'n2', reason: 'dead' } as const;
    const circuit = { at: 1, tag: 'n1', open: true, failures: 3 };
    listeners.switched!(change);
    listeners.circuit!(circuit);
    await ask({ method: 'shutdown', params: { graceMs: 0 } });
    expect(sent[0]).toMatchObject({ type: 'events', switched: [change], circuits: [circuit] });
  });

  it('sends the last records before it answers the shutdown, and exits after that', async () => {
    const { ask, sent, order } = setup();
    await ask({ method: 'shutdown', params: { graceMs: 0 } });
    expect(order).toEqual(['events', 'response', 'exit 0']);
    expect(sent[0]).toMatchObject({ closed: [{ id: 'last' }] });
  });
});
