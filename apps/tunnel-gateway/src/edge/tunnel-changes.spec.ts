import type { TunnelState } from '@gatehouse/tunnel-kernel';
import { describe, expect, it } from 'vitest';
import { TunnelChanges, type WantedTunnels } from './tunnel-changes.js';

const state = (id: number, error: string | null = null): TunnelState => ({
  id,
  clientId: id < 10 ? 1 : 2,
  state: error === null ? 'running' : 'error',
  port: 4000 + id,
  error,
});
const wanted = (...ids: number[]): WantedTunnels =>
  ({
    clients: [
      { id: 1, enabled: true },
      { id: 2, enabled: true },
    ],
    tunnels: ids.map((id) => ({ id, clientId: id < 10 ? 1 : 2 })),
  }) as WantedTunnels;
const reported = (changes: ReturnType<TunnelChanges['since']>): string[] =>
  changes.map(({ type, state: { id } }) => `${type} ${id}`);

describe('changes of tunnels', () => {
  it('are reported from the second check on, failures from the first', () => {
    const changes = new TunnelChanges();
    expect(reported(changes.since([state(1), state(2, 'taken')], wanted(1, 2)))).toEqual(['tunnel.failed 2']);
    expect(changes.since([state(1), state(2, 'taken')], wanted(1, 2))).toEqual([]);
    expect(reported(changes.since([state(1), state(2), state(3)], wanted(1, 2, 3)))).toEqual([
      'tunnel.started 2',
      'tunnel.started 3',
    ]);
    expect(reported(changes.since([state(3)], wanted(3)))).toEqual(['tunnel.stopped 1', 'tunnel.stopped 2']);
    expect(reported(changes.since([state(1), state(3, 'gone')], wanted(1, 3)))).toEqual([
      'tunnel.started 1',
      'tunnel.failed 3',
    ]);
  });

  it('report a port that is bound late only once', () => {
    const changes = new TunnelChanges();
    changes.since([], wanted());
    expect(changes.since([], wanted(1))).toEqual([]);
    expect(reported(changes.since([state(1)], wanted(1)))).toEqual(['tunnel.started 1']);
    expect(changes.since([state(1)], wanted(1))).toEqual([]);
  });

  it('do not report tunnels that move to another process', () => {
    const [first, second] = [new TunnelChanges(), new TunnelChanges()];
    first.since([state(1)], wanted(1, 11), (id) => id === 1);
    second.since([state(11)], wanted(1, 11), (id) => id === 2);
    expect(first.since([state(1), state(11)], wanted(1, 11))).toEqual([]);
    expect(second.since([], wanted(1, 11), () => false)).toEqual([]);
    // A new one is reported by the process that serves it.
    expect(reported(first.since([state(1), state(11), state(2)], wanted(1, 2, 11)))).toEqual(['tunnel.started 2']);
    expect(second.since([], wanted(1, 2, 11), () => false)).toEqual([]);
  });

  it('report the tunnels of a disabled client as ended', () => {
    const changes = new TunnelChanges();
    changes.since([state(1)], wanted(1));
    const disabled = { ...wanted(1), clients: [{ id: 1, enabled: false }] } as WantedTunnels;
    expect(reported(changes.since([], disabled))).toEqual(['tunnel.stopped 1']);
  });
});
