import { describe, expect, it } from 'vitest';
import { VisitorLedger } from './visitor-ledger.js';

const tunnel = { kind: 'tunnel', id: 7 } as const;
const host = { kind: 'host', id: 7 } as const;

describe('the visitor ledger', () => {
  it('counts each address of each resource, in canonical text', () => {
    const ledger = new VisitorLedger();
    for (const address of ['::ffff:10.0.0.1', '10.0.0.1', '2001:DB8:0::1', '2001:db8::1', '10.0.0.2']) {
      ledger.hit(tunnel, 1, address);
    }
    ledger.hit(host, 2, '10.0.0.1');
    expect(ledger.take()).toEqual([
      { resource: tunnel, clientId: 1, address: '10.0.0.1', hits: 2 },
      { resource: tunnel, clientId: 1, address: '2001:db8::1', hits: 2 },
      { resource: tunnel, clientId: 1, address: '10.0.0.2', hits: 1 },
      { resource: host, clientId: 2, address: '10.0.0.1', hits: 1 },
    ]);
    expect(ledger.take()).toEqual([]);
  });

  it('counts visitors beyond the limit together', () => {
    const ledger = new VisitorLedger(3);
    for (let round = 0; round < 2; round++) {
      for (let index = 0; index < 10; index++) ledger.hit(tunnel, 1, `10.0.0.${index}`);
    }
    const taken = ledger.take();
    expect(taken.map(({ address }) => address)).toEqual(['10.0.0.0', '10.0.0.1', '10.0.0.2', null]);
    expect(taken.reduce((sum, { hits }) => sum + hits, 0)).toBe(20);
  });

  it('has room for 100,000 addresses of all resources', () => {
    const ledger = new VisitorLedger();
    for (let id = 0; id < 12; id++) {
      for (let index = 0; index < 9000; index++)
        ledger.hit({ kind: 'host', id }, 1, `10.0.${index >> 8}.${index & 255}`);
    }
    const taken = ledger.take();
    expect(taken.filter(({ address }) => address !== null)).toHaveLength(100_000);
    expect(taken.reduce((sum, { hits }) => sum + hits, 0)).toBe(12 * 9000);
    ledger.hit(tunnel, 1, '10.0.0.1');
    expect(ledger.take()).toMatchObject([{ address: '10.0.0.1' }]);
  });
});
