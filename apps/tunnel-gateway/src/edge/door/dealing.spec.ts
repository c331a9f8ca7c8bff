import { agentRouteTag } from '@gatehouse/tunnel-kernel';
import { describe, expect, it } from 'vitest';
import { Dealing, type DealingRows } from './dealing.js';

type Host = DealingRows['hosts'][number];

const key = (id: number): string => id.toString(16).padStart(64, '0');
const clients = (...ids: number[]): DealingRows['clients'] => ids.map((id) => ({ id, keyHash: key(id) }));
const host = (clientId: number, name: string, rest: Partial<Host> = {}): Host => ({
  clientId,
  host: name,
  location: '/',
  scheme: 'all',
  certPath: 'a.pem',
  ...rest,
});

function deal(rows: Partial<DealingRows>, count = 3): Dealing {
  return new Dealing({ clients: clients(1, 2, 3, 4, 5, 6), tunnels: [], hosts: [], ...rows }, count);
}

describe('clients distributed over workers', () => {
  it('are distributed by id, independently of all other rows', () => {
    const dealing = deal({ hosts: [host(1, 'a.test'), host(2, 'b.test')] });
    expect([1, 2, 3, 4, 5, 6].map((id) => dealing.ofClient(id))).toEqual([1, 2, 0, 1, 2, 0]);
    expect(dealing.ofClient(99)).toBe(0);
    expect(deal({}, 1).ofClient(5)).toBe(0);
  });

  it('are found by the public part of their key', () => {
    const dealing = deal({ tunnels: [{ id: 70, clientId: 5 }] });
    for (const id of [1, 2, 3]) expect(dealing.ofTag(agentRouteTag(key(id)))).toBe(dealing.ofClient(id));
    expect(dealing.ofTag('t70')).toBe(dealing.ofClient(5));
    expect(dealing.ofTag('t71')).toBeNull();
    expect(dealing.ofTag(agentRouteTag(key(77)))).toBeNull();
  });

  it('are also found by their previous key', () => {
    const dealing = deal({ clients: [{ id: 2, keyHash: key(2), previousKeyHash: key(77) }] });
    for (const hash of [key(2), key(77)]) expect(dealing.ofTag(agentRouteTag(hash))).toBe(dealing.ofClient(2));
  });

  it('share a worker if their public parts are equal', () => {
    const same = [1, 2].map((id) => ({ id, keyHash: key(1) }));
    const dealing = deal({ clients: same });
    expect(dealing.ofClient(2)).toBe(dealing.ofClient(1));
  });

  it('share a worker if they serve the same name, also indirectly', () => {
    const dealing = deal({
      hosts: [host(5, 'a.test'), host(4, 'a.test', { location: '/api' }), host(4, 'B.test'), host(3, 'b.test')],
    });
    expect([3, 4, 5].map((id) => dealing.ofClient(id))).toEqual([0, 0, 0]);
    expect(dealing.ofClient(2)).toBe(2);
    expect(dealing.ofName('a.test')).toBe(0);
    expect(dealing.ofName('b.test')).toBe(0);
  });
});

describe('a name', () => {
  it('leads to the most specific match', () => {
    const dealing = deal({ hosts: [host(1, 'a.x.test'), host(2, '*.x.test'), host(3, '*')] });
    expect(dealing.ofName('a.x.test')).toBe(1);
    expect(dealing.ofName('b.c.x.test')).toBe(2);
    expect(dealing.ofName('x.test')).toBe(0);
    expect(dealing.ofName('[::1]')).toBe(0);
    expect(deal({ hosts: [host(1, '*.x.test')] }).ofName('x.test')).toBeNull();
  });

  it.each([
    ['of one scheme', { scheme: 'http' as const }],
    ['of a location', { location: '/api' }],
    ['without a certificate', { certPath: null }],
  ])('%s leaves requests to the next name, and shares its worker', (_, rest) => {
    const dealing = deal({ hosts: [host(4, 'a.x.test', rest), host(2, '*.x.test'), host(3, '*')] });
    expect(dealing.ofClient(4)).toBe(dealing.ofClient(2));
    expect(dealing.ofClient(3)).toBe(0);
    const far = deal({ hosts: [host(4, '*.a.x.test', rest), host(3, '*')] });
    expect(far.ofClient(4)).toBe(far.ofClient(3));
  });

  it('that takes every request shares with no other name, even if several hosts do that', () => {
    const dealing = deal({
      hosts: [host(4, 'a.test', { scheme: 'http' }), host(4, 'a.test', { scheme: 'https' }), host(2, '*')],
    });
    expect(dealing.ofClient(4)).toBe(1);
  });
});
