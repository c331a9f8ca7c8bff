import { KernelConfigError } from '@gatehouse/proxy-kernel';
import type { ConnectionRecord, KernelEvents, ProxyKernel } from '@gatehouse/proxy-kernel';
import { describe, expect, it } from 'vitest';
import { KernelChild } from './kernel-child.js';
import { KernelEventQueue } from './kernel-event-queue.js';
import type { ChildMessage, ParentMessage } from './kernel-ipc.js';

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
  return { sent, order, ask };
}

describe('KernelChild', () => {
  it('answers with what the kernel says, under the id of the question', async () => {
    const { ask, sent } = setup({ closeConnection: (id) => id === 'c1' });
    await ask({ method: 'closeConnection', params: { id: 'c1' } });
    expect(sent).toEqual([{ type: 'response', id: 7, ok: true, result: true }]);
  });

  it('hands a configuration error over with its path', async () => {
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

  it('ends the connections of one group only', async () => {
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
    // The second had ended by itself in between.
    expect([closed, sent[0]]).toEqual([['a', 'c'], { type: 'response', id: 7, ok: true, result: 1 }]);
  });

  it('hands over the last records before it answers that it is done, and exits after that', async () => {
    const { ask, sent, order } = setup();
    await ask({ method: 'shutdown', params: { graceMs: 0 } });
    expect(order).toEqual(['events', 'response', 'exit 0']);
    expect(sent[0]).toMatchObject({ closed: [{ id: 'last' }] });
  });
});
