import { describe, expect, it } from 'vitest';
import { DomainTable, SCOPE, hashDomain } from './domain-table.js';

const all = () => true;

describe('domain table', () => {
  it('never confuses names with equal hashes', () => {
    const seed = 12_345;
    const byHash = new Map<number, string>();
    const pairs: [string, string][] = [];
    for (let i = 0; i < 300_000; i++) {
      const name = `${(Math.imul(i, 0x9e3779b1) >>> 0).toString(36)}-${i.toString(36)}.example`;
      const other = byHash.get(hashDomain(name, seed));
      if (other === undefined) byHash.set(hashDomain(name, seed), name);
      else pairs.push([other, name]);
    }
    expect(pairs.length).toBeGreaterThan(0);
    const table = new DomainTable(
      pairs.map(([domain], rule) => ({ domain, scope: SCOPE.suffix, rule })),
      seed,
    );
    for (const [rule, [stored, colliding]] of pairs.entries()) {
      expect(table.find(stored, 0, 1e6, all)).toBe(rule);
      expect(table.find(colliding, 0, 1e6, all)).toBe(1e6);
    }
  });

  it('keeps both of two names with one hash', () => {
    const seen = new Map<number, string>();
    let pair: [string, string] | null = null;
    for (let i = 0; pair === null; i++) {
      const name = `n${i}`;
      const other = seen.get(hashDomain(name, 7));
      if (other === undefined) seen.set(hashDomain(name, 7), name);
      else pair = [other, name];
    }
    const table = new DomainTable(
      pair.map((domain, rule) => ({ domain, scope: SCOPE.exact, rule })),
      7,
    );
    expect(pair.map((name) => table.find(name, 0, 9, all))).toEqual([0, 1]);
  });

  it('finds suffixes at label boundaries only, and exact names as a whole only', () => {
    const table = new DomainTable([
      { domain: 'example.com', scope: SCOPE.suffix, rule: 0 },
      { domain: 'www.other.net', scope: SCOPE.exact, rule: 1 },
      { domain: 'net', scope: SCOPE.suffix, rule: 2 },
    ]);
    const find = (host: string) => table.find(host, 0, 9, all);
    expect([find('example.com'), find('a.b.example.com'), find('badexample.com'), find('com')]).toEqual([0, 0, 9, 9]);
    expect([find('www.other.net'), find('x.www.other.net'), find('net')]).toEqual([1, 2, 2]);
    expect([find(''), find('.'), find('..example.com'), find('例.com')]).toEqual([9, 9, 0, 9]);
  });

  it('continues with the next rule of the same name, and with names above it', () => {
    const table = new DomainTable([
      { domain: 'com', scope: SCOPE.suffix, rule: 1 },
      { domain: 'a.com', scope: SCOPE.suffix, rule: 2 },
      { domain: 'a.com', scope: SCOPE.exact, rule: 3 },
      { domain: 'a.com', scope: SCOPE.suffix, rule: 4 },
    ]);
    expect(table.find('a.com', 0, 9, (rule) => rule > 2)).toBe(3);
    expect(table.find('x.a.com', 0, 9, (rule) => rule > 2)).toBe(4);
    expect(table.find('a.com', 2, 9, all)).toBe(2);
    expect(table.find('a.com', 0, 1, all)).toBe(1);
    expect(table.find('a.com', 5, 9, all)).toBe(9);
  });

  it('is empty without entries', () => {
    expect(new DomainTable([]).find('example.com', 0, 3, all)).toBe(3);
  });
});
