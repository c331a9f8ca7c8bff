import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { NodeSessions } from './node-sessions.js';

describe('the sessions of users', () => {
  it('keep their nodes until they were not used for their time', () => {
    let now = 0;
    const sessions = new NodeSessions(() => now);
    const key = { user: 'ann', name: 'a' };
    expect(sessions.find(key)).toBeNull();
    sessions.keep(key, 'n1', 1000);
    now = 999;
    expect(sessions.find(key)).toBe('n1');
    sessions.keep(key, 'n1', 1000);
    now = 1998;
    expect(sessions.find(key)).toBe('n1');
    now = 1999;
    expect(sessions.find(key)).toBeNull();
  });

  it('belong to one user each', () => {
    const sessions = new NodeSessions(() => 0);
    sessions.keep({ user: 'ann', name: 'a' }, 'n1', 1000);
    expect(sessions.find({ user: 'bob', name: 'a' })).toBeNull();
  });

  it('push out the oldest of their user, then the oldest of all', () => {
    const sessions = new NodeSessions(() => 0, { all: 3, ofUser: 2 });
    const [a, b, c] = ['a', 'b', 'c'].map((name) => ({ user: 'ann', name })) as [Key, Key, Key];
    for (const key of [a, b]) sessions.keep(key, 'n1', 1000);
    sessions.keep(a, 'n1', 1000);
    sessions.keep(c, 'n1', 1000);
    expect([a, b, c].map((key) => sessions.find(key))).toEqual(['n1', null, 'n1']);
    for (const name of ['x', 'y']) sessions.keep({ user: 'bob', name }, 'n2', 1000);
    expect([a, c].map((key) => sessions.find(key))).toEqual([null, 'n1']);
    expect(sessions.size).toBe(3);
  });

  it('never exceed either limit', () => {
    const key = fc.record({ user: fc.constantFrom('ann', 'bob', 'eve'), name: fc.constantFrom('a', 'b', 'c', 'd') });
    fc.assert(
      fc.property(fc.array(key, { maxLength: 60 }), (used) => {
        const sessions = new NodeSessions(() => 0, { all: 5, ofUser: 2 });
        for (const each of used) {
          sessions.keep(each, 'n1', 1000);
          expect(sessions.find(each)).toBe('n1');
          expect(sessions.size).toBeLessThanOrEqual(5);
          for (const user of ['ann', 'bob', 'eve']) {
            const own = ['a', 'b', 'c', 'd'].filter((name) => sessions.find({ user, name }) !== null);
            expect(own.length).toBeLessThanOrEqual(2);
          }
        }
      }),
    );
  });
});

interface Key {
  user: string;
  name: string;
}
