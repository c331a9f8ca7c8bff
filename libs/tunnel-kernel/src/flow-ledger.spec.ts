import { describe, expect, it, vi } from 'vitest';
import { FlowLedger, type FlowRecord } from './flow-ledger.js';
import { VisitorLedger } from './visitor-ledger.js';

const tunnel = { kind: 'tunnel', id: 7 } as const;
const visitor = { address: '192.0.2.1', port: 4711 };
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the flow ledger', () => {
  it('has deltas and records that add up to the same bytes', () => {
    const records: FlowRecord[] = [];
    const ledger = new FlowLedger(Date.now, (record) => records.push(record));
    const [first, second] = [ledger.open(tunnel, 1, visitor), ledger.open(tunnel, 1, visitor)];
    first.counter.upload = 10;
    second.counter.download = 5;
    expect(ledger.takeDeltas()).toEqual([{ resource: tunnel, clientId: 1, upload: 10, download: 5, connections: 2 }]);
    expect(ledger.takeDeltas()).toEqual([]);
    first.counter.upload = 15;
    ledger.close(first, { reason: 'client_closed' });
    ledger.close(first, { reason: 'stopped' });
    expect(ledger.takeDeltas()).toEqual([{ resource: tunnel, clientId: 1, upload: 5, download: 0, connections: 0 }]);
    expect(records).toMatchObject([{ upload: 15, download: 0, reason: 'client_closed' }]);
    expect(ledger.size).toBe(1);
  });

  it('counts visitors when flows begin', () => {
    const visitors = new VisitorLedger();
    const ledger = new FlowLedger(Date.now, () => undefined, { visitors });
    ledger.open(tunnel, 1, visitor);
    ledger.open(tunnel, 1, visitor);
    expect(visitors.take()).toEqual([{ resource: tunnel, clientId: 1, address: '192.0.2.1', hits: 2 }]);
  });

  it('ends only a flow that is no longer allowed when it begins', async () => {
    const ledger = new FlowLedger(Date.now, () => undefined, { mayRun: ({ clientId }) => clientId === 1 });
    const stops = [1, 2].map((clientId) => {
      const stop = vi.fn();
      ledger.open(tunnel, clientId, visitor).handle = { stop };
      return stop;
    });
    await turn();
    expect(stops[0]).not.toHaveBeenCalled();
    expect(stops[1]).toHaveBeenCalledOnce();
  });

  it('knows the open flows, in whatever order they end', () => {
    const ledger = new FlowLedger(Date.now, () => undefined);
    const flows = [0, 1, 2, 3, 4].map(() => ledger.open(tunnel, 1, visitor));
    const left = new Set<unknown>(flows);
    for (const ended of [1, 4, 0, 2, 3]) {
      const flow = flows[ended];
      if (!flow) throw new Error('no such flow');
      ledger.close(flow, { reason: 'stopped' });
      ledger.carried(flow, { upload: 1, download: 1, connections: 0 });
      left.delete(flow);
      expect(new Set(ledger.running())).toEqual(left);
    }
    expect(ledger.size).toBe(0);
  });

  it('ends all flows even if they end each other', () => {
    const ledger = new FlowLedger(Date.now, () => undefined);
    const stopped: number[] = [];
    for (const id of [0, 1, 2, 3]) {
      const flow = ledger.open(tunnel, 1, visitor);
      flow.handle = {
        stop: () => {
          stopped.push(id);
          ledger.close(flow, { reason: 'stopped' });
        },
      };
    }
    ledger.stop(() => true);
    expect(stopped).toEqual([0, 1, 2, 3]);
    expect(ledger.size).toBe(0);
  });

  it('limits the flows of one client', () => {
    const ledger = new FlowLedger(Date.now, () => undefined);
    const limits = [1, 2].map((clientId) => {
      const limit = vi.fn();
      ledger.open(tunnel, clientId, visitor).handle = { stop: () => undefined, limit };
      return limit;
    });
    ledger.open(tunnel, 2, visitor).handle = { stop: () => undefined };
    ledger.limit(
      ({ clientId }) => clientId === 2,
      () => null,
    );
    expect(limits[0]).not.toHaveBeenCalled();
    expect(limits[1]).toHaveBeenCalledWith(null);
  });
});
