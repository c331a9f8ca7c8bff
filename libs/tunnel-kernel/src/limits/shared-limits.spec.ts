import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SHARE_MS, SharedLimits, type LimitedClients } from './shared-limits.js';

const CLIENT = 1;
const LIMIT = 1_000_000;

/** A server whose visitors want `demand` bytes a second. */
class SimulatedServer implements LimitedClients {
  demand: number;
  rate = LIMIT;
  connections = 0;
  readonly limits = new SharedLimits(this);

  constructor(demand: number) {
    this.demand = demand;
  }

  /** Bytes per second that its visitors get. */
  get carried(): number {
    return Math.min(this.demand, this.rate);
  }

  connectionsOf(): number {
    return this.connections;
  }

  *rates(): ReturnType<LimitedClients['rates']> {
    const bytes = (this.carried * SHARE_MS) / 1000;
    yield { clientId: CLIENT, limit: LIMIT, bytes, delayed: this.demand > this.rate };
  }

  setRate(_: number, bytesPerSecond: number): void {
    this.rate = Math.min(LIMIT, bytesPerSecond);
  }
}

function link(servers: readonly SimulatedServer[]): void {
  for (const one of servers) {
    one.limits.onChange = () => {
      const changes = one.limits.changes();
      for (const other of servers) if (other !== one) other.limits.receive(one, changes);
    };
  }
}

function turns(servers: readonly SimulatedServer[], count: number): void {
  for (let turn = 0; turn < count; turn += 1) for (const { limits } of servers) limits.turn();
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

describe('the rate limit of a client at several servers', () => {
  it('is used up and not exceeded, whatever visitors want at each server', () => {
    const demands = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 1_000, max: 5_000_000 })), {
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(demands, (wanted) => {
        const servers = wanted.map((demand) => new SimulatedServer(demand));
        link(servers);
        turns(servers, 40);
        const carried = sum(servers.map((server) => server.carried));
        expect(carried).toBeLessThanOrEqual(LIMIT * 1.05);
        // A server that is below its share keeps a little room, which others do not use.
        expect(carried).toBeGreaterThanOrEqual(Math.min(LIMIT * 0.75, sum(wanted) * 0.95));
      }),
    );
  });

  it('is divided equally where all want more', () => {
    const servers = [1, 2, 3, 4].map(() => new SimulatedServer(10 * LIMIT));
    link(servers);
    turns(servers, 10);
    for (const { rate } of servers) expect(rate).toBeCloseTo(LIMIT / 4);
  });

  it('belongs to one server alone if the others need none of it or have left', () => {
    const [one, two] = [new SimulatedServer(10 * LIMIT), new SimulatedServer(10 * LIMIT)];
    link([one, two]);
    turns([one, two], 10);
    expect(one.rate).toBeCloseTo(LIMIT / 2);
    two.demand = 0;
    turns([one, two], 10);
    expect(one.rate).toBe(LIMIT);
    two.demand = 10 * LIMIT;
    turns([one, two], 10);
    one.limits.left(two);
    one.limits.turn();
    expect(one.rate).toBe(LIMIT);
  });
});

describe('the connections of a client at several servers', () => {
  it('are known to all servers, also to one that is connected later', () => {
    const [one, two, late] = [new SimulatedServer(0), new SimulatedServer(0), new SimulatedServer(0)];
    link([one, two]);
    one.connections = 5;
    one.limits.connectionsChanged(CLIENT);
    expect(two.limits.connectionsElsewhere(CLIENT)).toBe(5);
    late.limits.receive(one, one.limits.all());
    expect(late.limits.connectionsElsewhere(CLIENT)).toBe(5);
    one.connections = 0;
    one.limits.connectionsChanged(CLIENT);
    expect(two.limits.connectionsElsewhere(CLIENT)).toBe(0);
    expect(one.limits.all()).toEqual([]);
  });

  it('are not collected without other servers', () => {
    const one = new SimulatedServer(0);
    one.connections = 1;
    one.limits.connectionsChanged(CLIENT);
    expect(one.limits.changes()).toEqual([]);
  });
});
