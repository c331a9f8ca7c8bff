import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GroupConfig, LoadBalanceStrategy } from '../interfaces/config.js';
import type { ConnectionMetadata } from '../interfaces/connection.js';
import { KernelConfigError } from '../interfaces/kernel.js';
import { siteOf, SESSION_MS, StickySessions } from './load-balance.js';
import { createPolicyTable, type SelectablePolicyTable } from './policy-table.js';
import { Rendezvous } from './rendezvous.js';

const TAGS = Array.from({ length: 10 }, (_, index) => `n${index}`);
const outbounds = new Map(TAGS.map((tag, index) => [tag, { udp: index % 2 === 0 }]));
const flow = (host: string | null, part: Partial<ConnectionMetadata> = {}): ConnectionMetadata => ({
  network: 'tcp',
  type: 'Socks5',
  sourceIp: '10.0.0.1',
  sourcePort: 1,
  inboundName: 'in',
  inboundUser: null,
  host,
  destinationIp: host === null ? '192.0.2.1' : null,
  destinationPort: 443,
  ...part,
});

interface Balanced {
  table: SelectablePolicyTable;
  dead: Set<string>;
  clock: { at: number };
  set: (tag: string, alive: boolean) => void;
  take: (host: string | null, part?: Partial<ConnectionMetadata>) => string;
}

function balanced(strategy: LoadBalanceStrategy | undefined, members: string[] = TAGS): Balanced {
  const dead = new Set<string>();
  const clock = { at: 0 };
  const health = {
    of: (_url: string | undefined, tag: string) => ({ alive: !dead.has(tag), delayMs: null }),
    anyHalfOpen: false,
    halfOpen: () => false,
    mayTry: () => false,
    claimTrial: () => false,
  };
  const config: GroupConfig = { name: 'B', type: 'load-balance', members, ...(strategy ? { strategy } : {}) };
  const table = createPolicyTable(outbounds, [config], { health, now: () => clock.at });
  const set = (tag: string, alive: boolean): void => {
    if (alive) dead.delete(tag);
    else dead.add(tag);
    table.healthChanged([tag]);
  };
  const take = (host: string | null, part?: Partial<ConnectionMetadata>): string => {
    const shown = table.chain('B', flow(host, part));
    const chain = table.useChain('B', flow(host, part));
    expect(chain).toEqual(shown);
    return chain.at(-1) ?? '';
  };
  return { table, dead, clock, set, take };
}

const hosts = Array.from({ length: 2000 }, (_, index) => `www.site${index}.com`);

describe('a load-balance group', () => {
  it('has no current member and allows no choice', () => {
    const { table } = balanced('round-robin');
    expect(table.groups()).toMatchObject([{ now: null, fixed: false, type: 'load-balance' }]);
    expect(table.selected('B')).toBeNull();
    expect(() => table.select('B', 'n1')).toThrow(KernelConfigError);
    expect(() => table.select('B', null)).toThrow(KernelConfigError);
    expect(table.chain('B')).toEqual(['B', 'n0']);
  });

  it.each(['round-robin', 'consistent-hashing', 'sticky-sessions'] as const)(
    'by %s takes living members only, and all of them when none lives',
    (strategy) => {
      const { set, take } = balanced(strategy);
      for (const tag of TAGS.slice(0, 7)) set(tag, false);
      const used = new Set(hosts.slice(0, 300).map((host) => take(host)));
      expect([...used].sort()).toEqual(['n7', 'n8', 'n9']);
      for (const tag of TAGS) set(tag, false);
      const all = new Set(hosts.slice(300, 700).map((host) => take(host)));
      expect(all.size).toBe(TAGS.length);
    },
  );

  it.each(['round-robin', 'consistent-hashing', 'sticky-sessions'] as const)(
    'by %s sends UDP only where it is carried',
    (strategy) => {
      const { table, take, set } = balanced(strategy);
      for (const host of hosts.slice(0, 50)) {
        expect(outbounds.get(take(host, { network: 'udp' }))?.udp).toBe(true);
      }
      expect(table.supportsUdp('B')).toBe(true);
      for (const tag of TAGS.filter((_, index) => index % 2 === 0)) set(tag, false);
      expect(table.supportsUdp('B')).toBe(false);
    },
  );

  it('leaves out PASS with a warning', () => {
    const { table, take } = balanced('round-robin', ['PASS', 'n1']);
    expect(table.warnings).toEqual(['group B: PASS carries nothing and is left out']);
    expect(take('a.b')).toBe('n1');
    expect(balanced('round-robin', []).take('a.b')).toBe('REJECT');
  });

  it('gives each living member the same share, in turn', () => {
    fc.assert(
      fc.property(fc.subarray(TAGS, { minLength: 1 }), fc.integer({ min: 1, max: 5 }), (living, rounds) => {
        const { set, take } = balanced('round-robin');
        for (const tag of TAGS) if (!living.includes(tag)) set(tag, false);
        const counts = new Map<string, number>();
        for (let index = 0; index < rounds * living.length; index += 1) {
          const tag = take('a.b');
          counts.set(tag, (counts.get(tag) ?? 0) + 1);
        }
        expect([...counts.values()]).toEqual(living.map(() => rounds));
      }),
    );
  });
});

describe('consistent hashing', () => {
  it('is the default, and keeps all flows of a site together', () => {
    const { take } = balanced(undefined);
    expect(take('a.example.co.uk')).toBe(take('b.c.example.co.uk', { sourceIp: '10.0.0.2', sourcePort: 9 }));
    expect(take(null)).toBe(take(null, { sourceIp: '10.9.9.9' }));
  });

  it('spreads sites evenly', () => {
    const { take } = balanced('consistent-hashing');
    const counts = new Map<string, number>();
    for (const host of hosts) counts.set(take(host), (counts.get(take(host)) ?? 0) + 1);
    for (const tag of TAGS) expect(counts.get(tag)).toBeGreaterThan((hosts.length / TAGS.length) * 0.7);
  });

  it('moves only what the lost member had, and gives it back', () => {
    fc.assert(
      fc.property(fc.constantFrom(...TAGS), fc.array(fc.domain(), { maxLength: 60 }), (lost, names) => {
        const { set, take } = balanced('consistent-hashing');
        const before = names.map((name) => take(name));
        set(lost, false);
        for (const [index, name] of names.entries()) {
          if (before[index] === lost) expect(take(name)).not.toBe(lost);
          else expect(take(name)).toBe(before[index]);
        }
        set(lost, true);
        expect(names.map((name) => take(name))).toEqual(before);
      }),
    );
  });

  it('does not depend on the order of the members', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(TAGS, { minLength: 1 }), fc.string(), (members, key) => {
        const ring = new Rendezvous();
        expect(ring.pick(key, members)).toBe(new Rendezvous().pick(key, [...members].sort()));
        expect(ring.pick(key, members)).toBe(ring.pick(key, [...members].reverse()));
      }),
    );
  });

  it.each([
    ['www.example.com', 'example.com'],
    ['a.b.example.co.uk', 'example.co.uk'],
    ['ann.github.io', 'ann.github.io'],
    ['localhost', 'localhost'],
    ['com', 'com'],
  ])('takes %s for a flow to %s', (host, site) => {
    expect(siteOf(flow(host))).toBe(site);
  });
});

describe('sticky sessions', () => {
  it('stay where they are when a member comes back, for ten minutes after their last flow', () => {
    const { set, take, clock } = balanced('sticky-sessions');
    const first = take('a.example.com');
    set(first, false);
    const second = take('b.example.com');
    expect(second).not.toBe(first);
    set(first, true);
    clock.at += SESSION_MS - 1;
    expect(take('a.example.com')).toBe(second);
    clock.at += SESSION_MS - 1;
    expect(take('a.example.com')).toBe(second);
    clock.at += SESSION_MS;
    expect(take('a.example.com')).toBe(first);
  });

  it('are kept by source and site', () => {
    const { take } = balanced('sticky-sessions');
    const sources = Array.from({ length: 40 }, (_, index) => `10.0.0.${index}`);
    expect(new Set(sources.map((sourceIp) => take('example.com', { sourceIp }))).size).toBeGreaterThan(3);
  });

  it('are bounded: the least recently used one is forgotten', () => {
    const sessions = new StickySessions(() => 0);
    for (let index = 0; index < 5000; index += 1) {
      sessions.keep(`s${index}`, 'n1');
      sessions.keep('kept', 'n2');
    }
    expect(sessions.size).toBe(4096);
    expect(sessions.find('kept')).toBe('n2');
    expect(sessions.find('s0')).toBeNull();
    expect(sessions.find('s4999')).toBe('n1');
  });
});
