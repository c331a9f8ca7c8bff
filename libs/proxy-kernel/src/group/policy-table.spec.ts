import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { GroupConfig } from '../interfaces/config.js';
import type { ConnectionMetadata } from '../interfaces/connection.js';
import type { GroupSwitched } from '../interfaces/kernel.js';
import type { MemberHealth } from './group-rule.js';
import { createPolicyTable, type SelectablePolicyTable } from './policy-table.js';
import { MIN_DWELL_MS } from './url-test.js';

const TAGS = ['n1', 'n2', 'n3', 'n4', 'n5'];
const outbounds = new Map(TAGS.map((tag, index) => [tag, { udp: index !== 1 }]));
const flow = (part: Partial<ConnectionMetadata> = {}): ConnectionMetadata => ({
  network: 'tcp',
  type: 'Socks5',
  sourceIp: '10.0.0.1',
  sourcePort: 1,
  inboundName: 'in',
  inboundUser: null,
  host: 'www.example.com',
  destinationIp: null,
  destinationPort: 443,
  ...part,
});

/** Groups with health that the test sets. */
class World {
  at = 1_000_000;
  readonly health = new Map<string, MemberHealth>();
  readonly waiting = new Set<string>();
  readonly switches: GroupSwitched[] = [];
  table: SelectablePolicyTable;

  constructor(groups: GroupConfig[], members: ReadonlyMap<string, { udp: boolean }> = outbounds) {
    this.table = this.compile(groups, members);
    this.table.takeOver(null, (change) => this.switches.push(change));
  }

  reload(groups: GroupConfig[], members: ReadonlyMap<string, { udp: boolean }> = outbounds): void {
    const next = this.compile(groups, members);
    const before = this.table.retire();
    this.table = next;
    next.takeOver(before, (change) => this.switches.push(change));
  }

  /** A number is a delay, null a dead node. */
  measured(report: Record<string, number | null>): void {
    for (const [tag, delayMs] of Object.entries(report)) this.health.set(tag, { alive: delayMs !== null, delayMs });
    this.table.healthChanged(Object.keys(report));
  }

  private compile(groups: GroupConfig[], members: ReadonlyMap<string, { udp: boolean }>): SelectablePolicyTable {
    const { waiting } = this;
    const health = {
      get anyHalfOpen() {
        return waiting.size > 0;
      },
      of: (testUrl: string | undefined, tag: string) =>
        this.health.get(testUrl ? `${testUrl}|${tag}` : tag) ?? { alive: true, delayMs: null },
      halfOpen: (tag: string) => this.waiting.has(tag),
      mayTry: (tag: string) => this.waiting.has(tag),
      claimTrial: (tag: string) => this.waiting.delete(tag),
    };
    return createPolicyTable(members, groups, { health, now: () => this.at });
  }
}

const group = (type: GroupConfig['type'], more: Partial<GroupConfig> = {}): GroupConfig => ({
  name: 'G',
  type,
  members: TAGS,
  ...more,
});
const now = (world: World): string | null => world.table.groups()[0]?.now ?? null;
const reasons = (world: World): string[] => world.switches.map(({ from, to, reason }) => `${from}>${to} ${reason}`);

describe('a url-test group', () => {
  it('takes the first without a measurement, then the fastest', () => {
    const world = new World([group('url-test')]);
    expect(now(world)).toBe('n1');
    world.measured({ n1: 500, n3: 80, n4: 90 });
    expect(reasons(world)).toEqual(['n1>n3 faster']);
  });

  it('stays until another is faster by the tolerance and by a fifth, and for a while after a switch', () => {
    const world = new World([group('url-test', { toleranceMs: 50 })]);
    world.measured({ n1: 200, n2: 151 });
    expect(now(world)).toBe('n1');
    world.measured({ n1: 1000, n2: 900 });
    expect(now(world)).toBe('n1');
    world.measured({ n2: 700 });
    expect(now(world)).toBe('n2');
    world.measured({ n3: 20 });
    expect(now(world)).toBe('n2');
    world.at += MIN_DWELL_MS - 1;
    world.table.recheck();
    expect(now(world)).toBe('n2');
    world.at += 1;
    world.table.recheck();
    expect(reasons(world)).toEqual(['n1>n2 faster', 'n2>n3 faster']);
  });

  it('leaves a dead one at once, and uses the first if none is alive', () => {
    const world = new World([group('url-test')]);
    world.measured({ n1: 300, n2: 100, n3: 200 });
    world.measured({ n2: null });
    world.measured({ n1: null, n3: null, n4: null, n5: null });
    expect(now(world)).toBe('n1');
    world.measured({ n4: 30 });
    expect(reasons(world)).toEqual(['n1>n2 faster', 'n2>n3 dead', 'n3>n1 dead', 'n1>n4 dead']);
    expect(now(world)).toBe('n4');
  });

  it('keeps a choice while it is alive, returns to it, and lets the user withdraw it', () => {
    const world = new World([group('url-test')]);
    world.measured({ n1: 300, n2: 10, n3: 200 });
    world.table.select('G', 'n3');
    expect(world.table.groups()[0]).toMatchObject({ now: 'n3', fixed: true });
    world.measured({ n3: null });
    expect(world.table.groups()[0]).toMatchObject({ now: 'n2', fixed: false });
    world.measured({ n3: 900 });
    expect(world.table.groups()[0]).toMatchObject({ now: 'n3', fixed: true });
    world.table.select('G', null);
    expect(world.table.groups()[0]).toMatchObject({ now: 'n2', fixed: false });
    expect(reasons(world)).toEqual(['n1>n2 faster', 'n2>n3 manual', 'n3>n2 dead', 'n2>n3 recovered', 'n3>n2 manual']);
  });

  it('decides by its own test address', () => {
    const world = new World([group('url-test', { testUrl: 'u' })]);
    world.measured({ n5: 1 });
    world.health.set('u|n4', { alive: true, delayMs: 5 });
    world.table.healthChanged(['n4']);
    expect(now(world)).toBe('n4');
  });

  it('never leaves a living member for one that is not clearly faster', () => {
    const report = fc.dictionary(fc.constantFrom(...TAGS), fc.option(fc.integer({ min: 1, max: 2000 })));
    fc.assert(
      fc.property(fc.array(fc.tuple(report, fc.integer({ min: 0, max: 60_000 })), { maxLength: 20 }), (steps) => {
        const world = new World([group('url-test', { toleranceMs: 100 })]);
        let lastFaster = -Infinity;
        for (const [health, pause] of steps) {
          const before = now(world);
          world.at += pause;
          world.measured(health);
          const [after, chosen] = [now(world), world.health.get(now(world) ?? '')];
          const anyAlive = TAGS.some((tag) => world.health.get(tag)?.alive ?? true);
          expect(chosen?.alive ?? true).toBe(anyAlive);
          if (!anyAlive) expect(after).toBe('n1');
          const old = world.health.get(before ?? '') ?? { alive: true, delayMs: null };
          if (after === before || !old.alive) continue;
          expect(world.switches.at(-1)).toMatchObject({ from: before, to: after, reason: 'faster', at: world.at });
          const [was, is] = [old.delayMs ?? Infinity, chosen?.delayMs ?? Infinity];
          expect(was - is).toBeGreaterThanOrEqual(100);
          expect(is).toBeLessThanOrEqual(was * 0.8);
          expect(world.at - lastFaster).toBeGreaterThanOrEqual(MIN_DWELL_MS);
          lastFaster = world.at;
        }
      }),
    );
  });
});

describe('a fallback group', () => {
  it('uses the first living member, and an earlier one when it is back', () => {
    const world = new World([group('fallback')]);
    world.measured({ n1: null, n2: null });
    world.measured({ n2: 900 });
    world.table.select('G', 'n5');
    world.measured({ n5: null });
    expect(reasons(world)).toEqual(['n1>n3 dead', 'n3>n2 recovered', 'n2>n5 manual', 'n5>n2 dead']);
  });

  it('always uses the first living member', () => {
    const report = fc.dictionary(fc.constantFrom(...TAGS), fc.option(fc.integer({ min: 1, max: 2000 })));
    fc.assert(
      fc.property(fc.array(report, { maxLength: 20 }), (steps) => {
        const world = new World([group('fallback')]);
        for (const health of steps) {
          world.measured(health);
          const first = TAGS.find((tag) => world.health.get(tag)?.alive ?? true) ?? 'n1';
          expect(now(world)).toBe(first);
          expect(world.table.chain('G')).toEqual(['G', first]);
        }
      }),
    );
  });
});

describe('switches', () => {
  it('are reported one by one and lead from each member to the next', () => {
    const step = fc.oneof(
      fc.dictionary(fc.constantFrom(...TAGS), fc.option(fc.integer({ min: 1, max: 2000 }))),
      fc.constantFrom(...TAGS, null),
    );
    const types = fc.constantFrom('select' as const, 'url-test' as const, 'fallback' as const);
    fc.assert(
      fc.property(types, fc.array(step, { maxLength: 20 }), (type, steps) => {
        const world = new World([group(type), { name: 'O', type: 'select', members: ['G', 'n1'] }]);
        for (const one of steps) {
          if (one === null || typeof one === 'string') world.table.select('G', one);
          else world.measured(one);
          world.at += 10_000;
        }
        let at = 'n1';
        for (const change of world.switches) {
          expect(change.group).toBe('G');
          expect(change.from).toBe(at);
          expect(change.to).not.toBe(at);
          at = change.to ?? '';
        }
        expect(now(world)).toBe(at);
        expect(world.table.chain('O')).toEqual(['O', 'G', at]);
      }),
    );
  });

  it('are not made by a select group that measures badly', () => {
    const world = new World([group('select')]);
    world.measured({ n1: null, n2: 1 });
    expect(now(world)).toBe('n1');
    expect(world.switches).toEqual([]);
  });
});

describe('a reload', () => {
  it('switches nothing on its own', () => {
    const types = fc.constantFrom('url-test' as const, 'fallback' as const, 'select' as const);
    const report = fc.dictionary(fc.constantFrom(...TAGS), fc.option(fc.integer({ min: 1, max: 2000 })));
    fc.assert(
      fc.property(types, fc.array(report, { maxLength: 8 }), fc.shuffledSubarray(TAGS), (type, reports, more) => {
        const world = new World([group(type)]);
        for (const health of reports) {
          world.measured(health);
          world.at += MIN_DWELL_MS;
        }
        const before = now(world);
        const count = world.switches.length;
        world.reload([group(type), { name: 'NEW', type: 'url-test', members: more }]);
        expect(now(world)).toBe(before);
        expect(world.switches.length).toBe(count);
      }),
    );
  });

  it('leaves a removed member, and follows a changed choice', () => {
    const world = new World([group('url-test'), group('select', { name: 'S', selected: 'n2' })]);
    world.measured({ n1: 300, n2: 10 });
    world.reload([group('url-test', { members: ['n1', 'n3'] }), group('select', { name: 'S', selected: 'n3' })]);
    expect(world.switches.map(({ group: name, to, reason }) => `${name} ${to} ${reason}`)).toEqual([
      'G n2 faster',
      'G n1 selected_gone',
      'S n3 manual',
    ]);
    world.reload([group('url-test', { members: [] })]);
    world.reload([group('url-test', { members: ['n4'] })]);
    expect(world.switches.slice(3).map(({ from, to, reason }) => `${from}>${to} ${reason}`)).toEqual([
      'n1>null selected_gone',
      'null>n4 recovered',
    ]);
  });

  it('ends the effect of the previous table', () => {
    const world = new World([group('fallback')]);
    const old = world.table;
    world.reload([group('fallback')]);
    world.measured({ n1: null });
    old.healthChanged(['n1']);
    expect(reasons(world)).toEqual(['n1>n2 dead']);
  });

  it('keeps the turn and the sessions of a load-balance group', () => {
    const config = group('load-balance', { strategy: 'round-robin' });
    const world = new World([config]);
    expect(world.table.useChain('G', flow())).toEqual(['G', 'n1']);
    world.reload([config]);
    expect(world.table.useChain('G', flow())).toEqual(['G', 'n2']);
  });
});

describe('groups in groups', () => {
  it('count as alive if the member that they use is', () => {
    const world = new World([
      { name: 'OUT', type: 'fallback', members: ['A', 'B', 'n5'] },
      { name: 'A', type: 'select', members: ['n1', 'n2'] },
      { name: 'B', type: 'url-test', members: ['n3', 'n4'] },
      { name: 'E', type: 'fallback', members: ['VOID', 'n5'] },
      { name: 'VOID', type: 'select', members: [] },
    ]);
    expect(world.table.chain('OUT')).toEqual(['OUT', 'A', 'n1']);
    world.measured({ n1: null });
    expect(world.table.chain('OUT')).toEqual(['OUT', 'B', 'n3']);
    world.measured({ n3: null });
    expect(world.table.chain('OUT')).toEqual(['OUT', 'B', 'n4']);
    world.measured({ n4: null });
    expect(world.table.chain('OUT')).toEqual(['OUT', 'n5']);
    world.table.select('A', 'n2');
    expect(world.table.chain('OUT')).toEqual(['OUT', 'A', 'n2']);
    expect(world.table.supportsUdp('OUT')).toBe(false);
    expect(world.table.chain('E')).toEqual(['E', 'n5']);
  });
});

describe('an open circuit that may be tried', () => {
  it.each(['fallback', 'url-test', 'load-balance'] as const)('is tried by one flow of a %s group', (type) => {
    const world = new World([group(type, { members: ['n1', 'n3'], strategy: 'round-robin' })]);
    world.measured({ n1: 10, n3: 500 });
    world.health.set('n1', { alive: false, delayMs: 10 });
    world.table.healthChanged(['n1']);
    expect(world.table.useChain('G', flow())).toEqual(['G', 'n3']);
    world.waiting.add('n1');
    world.table.healthChanged(['n1']);
    expect(world.table.chain('G', flow())).toEqual(['G', 'n1']);
    expect(world.table.useChain('G', flow())).toEqual(['G', 'n1']);
    expect(world.table.chain('G', flow())).toEqual(['G', 'n3']);
    expect(world.table.useChain('G', flow())).toEqual(['G', 'n3']);
    expect(world.table.groups()[0]?.now).toBe(type === 'load-balance' ? null : 'n3');
  });

  it('is not tried if the group would not use it', () => {
    const world = new World([group('fallback')]);
    world.health.set('n4', { alive: false, delayMs: null });
    world.waiting.add('n4');
    world.table.healthChanged(['n4']);
    expect(world.table.useChain('G', flow())).toEqual(['G', 'n1']);
    expect(world.waiting.has('n4')).toBe(true);
  });

  it('is not tried by a UDP flow that it could not carry', () => {
    const world = new World([group('load-balance', { members: ['n2', 'n3'] })]);
    world.health.set('n2', { alive: false, delayMs: null });
    world.waiting.add('n2');
    world.table.healthChanged(['n2']);
    expect(world.table.useChain('G', flow({ network: 'udp' }))).toEqual(['G', 'n3']);
    expect(world.table.useChain('G', flow())).toEqual(['G', 'n2']);
  });
});
