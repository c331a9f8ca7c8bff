import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { TunnelConfig } from '../config.js';
import { EntranceTable } from './entrance-table.js';
import type { ServerMode } from './mode.js';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

/** Ports of a machine on which some are taken. */
class Machine {
  readonly taken = new Set<number>();
  /** In the order of the attempts. */
  readonly attempts: number[] = [];

  readonly mode: ServerMode = {
    entrance: (_, port) => {
      let bound = 0;
      return {
        get port() {
          return bound;
        },
        listen: async () => {
          this.attempts.push(port);
          if (this.taken.has(port)) throw Object.assign(new Error('taken'), { code: 'EADDRINUSE' });
          this.taken.add(port);
          bound = port;
        },
        close: () => void this.taken.delete(bound),
      };
    },
  };
}

function tunnel(port: number, more: Partial<TunnelConfig> = {}): TunnelConfig {
  return { id: port, clientId: 1, mode: 'tcp', listen: { host: '127.0.0.1', port }, targets: [], ...more };
}

/** Attempts that come after the whole of their range: 0.5 s, 1 s, 2 s. */
function table(machine: Machine): EntranceTable {
  return new EntranceTable({ tcp: machine.mode }, () => 1);
}

const statesOf = (entrances: EntranceTable): unknown[] =>
  entrances.states(() => true).map(({ id, state, port }) => [id, state, port]);

describe('a port that cannot be bound', () => {
  it('is retried on its own schedule, whatever else changes in the configuration', async () => {
    const machine = new Machine();
    const entrances = table(machine);
    machine.taken.add(9);
    await entrances.apply([tunnel(9)]);
    await vi.advanceTimersByTimeAsync(1500);
    expect(machine.attempts).toEqual([9, 9, 9]);
    // The next attempt is due after two seconds more.
    for (let change = 1; change < 10; change++) {
      await entrances.apply([tunnel(9, { proxyProtocol: 1 }), tunnel(100 + change)]);
      await vi.advanceTimersByTimeAsync(200);
    }
    expect(machine.attempts.filter((port) => port === 9)).toHaveLength(3);
    machine.taken.delete(9);
    await vi.advanceTimersByTimeAsync(200);
    expect(statesOf(entrances)).toContainEqual([9, 'running', 9]);
  });

  it('is retried at once when its tunnel gets another address', async () => {
    const machine = new Machine();
    const entrances = table(machine);
    machine.taken.add(9);
    await entrances.apply([tunnel(9)]);
    await entrances.apply([tunnel(9, { listen: { host: '127.0.0.2', port: 10 } })]);
    expect(statesOf(entrances)).toEqual([[9, 'running', 10]]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(machine.attempts).toEqual([9, 10]);
  });

  it('is retried at once when another tunnel releases it', async () => {
    const machine = new Machine();
    const entrances = table(machine);
    await entrances.apply([tunnel(9), tunnel(9, { id: 2 })]);
    expect(statesOf(entrances)).toEqual([
      [9, 'running', 9],
      [2, 'error', 0],
    ]);
    await entrances.apply([tunnel(9, { id: 2 })]);
    expect(statesOf(entrances)).toEqual([[2, 'running', 9]]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(machine.attempts).toEqual([9, 9, 9]);
  });

  it('is not retried after its tunnel was deleted', async () => {
    const machine = new Machine();
    const entrances = table(machine);
    machine.taken.add(9);
    await entrances.apply([tunnel(9)]);
    await entrances.apply([]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([machine.attempts, entrances.states(() => true)]).toEqual([[9], []]);
  });
});
