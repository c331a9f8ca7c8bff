import { describe, expect, it } from 'vitest';
import type { ConnectionMetadata } from '../interfaces/index.js';
import { FlowShares } from './flow-shares.js';

const flow = (sourceIp: string, inboundUser: string | null = null): ConnectionMetadata =>
  ({ sourceIp, inboundUser }) as ConnectionMetadata;

describe('the flows of one client', () => {
  it('are bounded by address and by user, and are released', () => {
    const shares = new FlowShares(2);
    const [one, other] = [flow('192.0.2.1'), flow('192.0.2.2')];
    for (let count = 0; count < 3; count += 1) shares.add(one, 1);
    expect([shares.isOver(one), shares.isOver(other)]).toEqual([true, false]);
    shares.add(one, -1);
    expect(shares.isOver(one)).toBe(false);
    for (const address of ['192.0.2.3', '192.0.2.4', '127.0.0.1']) shares.add(flow(address, 'ann'), 1);
    expect([shares.isOver(flow('192.0.2.5', 'ann')), shares.isOver(flow('192.0.2.5', 'bob'))]).toEqual([true, false]);
  });

  it('are bounded for an IPv6 network of 64 bits as for one address', () => {
    const shares = new FlowShares(2);
    for (const host of [1, 2, 3]) shares.add(flow(`2001:db8:0:1::${host}`), 1);
    expect(shares.isOver(flow('2001:db8:0:1::9'))).toBe(true);
    expect(shares.isOver(flow('2001:db8:0:2::9'))).toBe(false);
  });

  it('are not bounded for programs on this machine', () => {
    const shares = new FlowShares(2);
    for (let count = 0; count < 9; count += 1) shares.add(flow('127.0.0.1'), 1);
    expect(shares.isOver(flow('127.0.0.1'))).toBe(false);
  });
});
