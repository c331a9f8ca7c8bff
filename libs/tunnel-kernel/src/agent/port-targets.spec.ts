import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PortTargets } from './port-targets.js';

const now = (): number => 0;

describe('the targets of public ports', () => {
  it('are mapped one to one, and only inside the range', () => {
    const port = fc.integer({ min: 1, max: 65_535 });
    fc.assert(
      fc.property(port, port, fc.integer({ min: 2, max: 1000 }), port, (first, target, count, asked) => {
        fc.pre(first + count <= 65_536 && target + count <= 65_536);
        const targets = new PortTargets(
          { targets: [{ host: 'a', port: target, weight: 1 }], ports: { first, count } },
          now,
        );
        const inside = asked >= first && asked < first + count;
        expect(targets.lead(String(asked))).toBe(inside);
        expect(targets.of(String(asked)).map((each) => each.port)).toEqual(inside ? [target + asked - first] : []);
        expect(targets.at(String(asked))?.order()[0]?.port).toBe(inside ? target + asked - first : undefined);
        const last = targets.of(String(first + count - 1)).map((each) => each.port);
        expect(last).toEqual([target + count - 1]);
      }),
    );
  });

  it('rest for one port only', () => {
    const both = ['a', 'b'].map((host) => ({ host, port: 100, weight: 1 }));
    const targets = new PortTargets({ targets: both, ports: { first: 10, count: 3 } }, now);
    const at = targets.at('11');
    const [failed] = at?.order() ?? [];
    if (failed) at?.failed(failed);
    const answering = at?.order()[0]?.host;
    expect([at?.order()[0]?.host, at?.order()[0]?.host]).toEqual([answering, answering]);
    const others = targets.at('12');
    expect(new Set([others?.order()[0]?.host, others?.order()[0]?.host])).toEqual(new Set(['a', 'b']));
  });

  it('do not depend on the port without a range', () => {
    const targets = new PortTargets({ targets: [{ host: 'a', port: 80, weight: 1 }] }, now);
    expect(targets.at('')).toBe(targets.at('anything'));
    expect(targets.of('')).toEqual([{ host: 'a', port: 80, weight: 1 }]);
  });

  it.each(['', '-1', '1e1', '10.5', 'a:10', '99999999'])('do not take %s for a port', (text) => {
    const targets = new PortTargets(
      { targets: [{ host: 'a', port: 80, weight: 1 }], ports: { first: 1, count: 99 } },
      now,
    );
    expect([targets.lead(text), targets.at(text), targets.of(text)]).toEqual([false, null, []]);
  });
});
