import { once } from 'node:events';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { howItEnds, TunnelRig } from '../../test/tunnel-rig.js';
import type { DeniedVisitors } from '../access/refusal-sampler.js';
import type { FlowDelta } from '../flow-ledger.js';
import { TrafficQuotas, type QuotaKind, type TrafficQuota } from './traffic-quotas.js';

const KIB = 1024;

describe('traffic quotas of a server', () => {
  let rig: TunnelRig;
  let denied: DeniedVisitors[];
  /** Of the two clients of user 1. */
  let ports: number[];

  beforeEach(async () => {
    const own: DeniedVisitors[] = [];
    denied = own;
    rig = new TunnelRig({ events: { denied: (visitors) => own.push(visitors) } });
    await rig.listen();
    for (const id of [1, 2]) {
      rig.agent(rig.client().key);
      await rig.online(id);
    }
    const echo = await rig.echo();
    const config = rig.config({
      tunnels: [1, 2].map((id) => rig.tunnelConfig(id, [echo], { id })),
    });
    const clients = config.clients.map((client) => ({ ...client, rateLimit: 2_000 * KIB }));
    ports = (await rig.server.apply({ ...config, clients })).map(({ port }) => port);
  });
  afterEach(() => rig.close());

  /** Sends and receives through the echo as fast as its client's rate limit allows. */
  async function busy(port: number): Promise<{ visitor: Socket; ended: Promise<string> }> {
    const visitor = await rig.visit(port);
    const block = Buffer.alloc(16 * KIB);
    const write = (): void => {
      while (visitor.write(block));
    };
    visitor.on('drain', write).resume();
    write();
    return { visitor, ended: howItEnds(visitor) };
  }

  function sum(deltas: readonly FlowDelta[]): number {
    return deltas.reduce((all, { upload, download }) => all + upload + download, 0);
  }

  it.each<[QuotaKind, number]>([
    ['tunnel', 1],
    ['client', 1],
    ['user', 1],
  ])('of a %s cut a running flow, refuse further ones, and let them in when there is more', async (kind, id) => {
    const left = 4_000 * KIB;
    rig.server.setQuotas([{ kind, id, left }]);
    const { ended } = await busy(ports[0] ?? 0);
    let carried = 0;
    // What has been passed on for the database counts as well.
    const timer = setInterval(() => (carried += sum(rig.server.takeDeltas())), 130);
    expect(await ended).toBe('ECONNRESET');
    clearInterval(timer);
    carried += sum(rig.server.takeDeltas());
    expect(carried).toBeGreaterThanOrEqual(left);
    // A tenth of a second at 2,000 KiB/s, and what a busy machine adds.
    expect(carried).toBeLessThan(left + 1_500 * KIB);
    expect(await howItEnds(rig.visitor(ports[0] ?? 0))).toBe('ECONNRESET');
    expect(denied).toMatchObject([{ reason: 'quota_used_up', clientId: 1 }]);
    expect(rig.server.refusals().quota_used_up).toBe(1);
    // Of another client, but of the same user.
    const other = howItEnds(await echoed(ports[1] ?? 0, kind === 'user'));
    if (kind === 'user') expect(await other).toBe('ECONNRESET');
    rig.server.setQuotas([{ kind, id, left: 1_000 }]);
    await echoed(ports[0] ?? 0);
  });

  it('add up over the clients of a user', async () => {
    rig.server.setQuotas([{ kind: 'user', id: 1, left: 20 }]);
    const first = await echoed(ports[0] ?? 0);
    const ends = [howItEnds(first), howItEnds(await echoed(ports[1] ?? 0))];
    first.write('12345678');
    expect(await Promise.all(ends)).toEqual(['ECONNRESET', 'ECONNRESET']);
  });

  it('disappear when none is set', async () => {
    rig.server.setQuotas([{ kind: 'client', id: 1, left: 0 }]);
    expect(await howItEnds(rig.visitor(ports[0] ?? 0))).toBe('ECONNRESET');
    rig.server.setQuotas([]);
    await echoed(ports[0] ?? 0);
  });

  /** A visitor whose byte came back, unless it is refused. */
  async function echoed(port: number, refused = false): Promise<Socket> {
    const visitor = rig.visitor(port);
    if (refused) return visitor;
    visitor.write('x');
    await once(visitor, 'data');
    return visitor;
  }
});

describe('the time until a used up quota is noticed', () => {
  const resource = { kind: 'tunnel', id: 3 } as const;
  let upload = 0;
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function quotasOf(list: TrafficQuota[], onUsedUp = vi.fn()): { quotas: TrafficQuotas; onUsedUp: typeof onUsedUp } {
    const quotas = new TrafficQuotas({
      userOf: () => 9,
      pending: () => [{ resource, clientId: 5, upload, download: 0, connections: 0 }],
      onUsedUp,
    });
    quotas.set(list);
    return { quotas, onUsedUp };
  }

  it('is a tenth of a second, and each is reported once', () => {
    upload = 0;
    const { quotas, onUsedUp } = quotasOf([
      { kind: 'client', id: 5, left: 10 },
      { kind: 'client', id: 6, left: 10 },
    ]);
    upload = 9;
    vi.advanceTimersByTime(1_000);
    expect(quotas.stopping({ resource, clientId: 5, userId: 9 })).toBeNull();
    upload = 10;
    vi.advanceTimersByTime(100);
    expect(quotas.stopping({ resource, clientId: 5, userId: 9 })).toMatchObject({ kind: 'client', id: 5 });
    vi.advanceTimersByTime(1_000);
    expect(onUsedUp.mock.calls).toEqual([[[{ kind: 'client', id: 5 }]]]);
    quotas.stop();
  });

  it('costs no timer where nobody has a quota', async () => {
    const { quotas } = quotasOf([]);
    expect(vi.getTimerCount()).toBe(0);
    quotas.set([{ kind: 'user', id: 9, left: 100 }]);
    expect(vi.getTimerCount()).toBe(1);
    quotas.set([]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('counts what was passed on between two looks', () => {
    upload = 0;
    const { quotas, onUsedUp } = quotasOf([{ kind: 'tunnel', id: 3, left: 10 }]);
    quotas.taken([{ resource, clientId: 5, upload: 4, download: 3, connections: 1 }]);
    upload = 2;
    vi.advanceTimersByTime(100);
    expect(onUsedUp).not.toHaveBeenCalled();
    upload = 3;
    vi.advanceTimersByTime(100);
    expect(onUsedUp).toHaveBeenCalledOnce();
    quotas.stop();
  });
});
