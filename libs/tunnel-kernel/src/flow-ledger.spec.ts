import { describe, expect, it, vi } from 'vitest';
import { FlowLedger, type FlowRecord } from './flow-ledger.js';
import { VisitorLedger } from './visitor-ledger.js';

const tunnel = { kind: 'tunnel', id: 7 } as const;
const visitor = { address: '192.0.2.1', port: 4711 };
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the flow ledger', () => {
  it('adds deltas and records up to the same bytes', () => {
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

  it('counts visitors as flows begin', () => {
    const visitors = new VisitorLedger();
    const ledger = new FlowLedger(Date.now, () => undefined, { visitors });
    ledger.open(tunnel, 1, visitor);
    ledger.open(tunnel, 1, visitor);
    expect(visitors.take()).toEqual([{ resource: tunnel, clientId: 1, address: '192.0.2.1', hits: 2 }]);
  });

  it('ends a flow that may not run by the time it begins, and no other', async () => {
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

  it('limits the flows of one client', () => {
    const ledger = new FlowLedger(Date.now, () => undefined);
    const limits = [1, 2].map((clientId) => {
      const limit = vi.fn();
      ledger.open(tunnel, clientId, visitor).handle = { stop: () => undefined, limit };
      return limit;
    });
    ledger.open(tunnel, 2, visitor).handle = { stop: () => undefined };
    ledger.limit(2, null);
    expect(limits[0]).not.toHaveBeenCalled();
    expect(limits[1]).toHaveBeenCalledWith(null);
  });
});
