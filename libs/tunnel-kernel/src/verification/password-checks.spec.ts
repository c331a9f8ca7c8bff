import { describe, expect, it } from 'vitest';
import { policy } from '../../test/verification-rig.js';
import { PasswordChecks } from './password-checks.js';

/** Holds every check until it is released, and notes the order in which they began. */
class HeldChecks {
  readonly begun: string[] = [];
  private readonly held: (() => void)[] = [];
  readonly checks = new PasswordChecks(
    (_, password) => {
      this.begun.push(password);
      return new Promise((resolve) => this.held.push(() => resolve(false)));
    },
    ({ resource }) => resource.id,
  );

  /** A visitor of a policy of `owner`. */
  ask(owner: number, address: string, password: string): Promise<boolean> {
    const asked = policy({ resource: { kind: 'client', id: owner } });
    return this.checks.check('hash', password, { policy: asked, address });
  }

  async releaseAll(): Promise<void> {
    await new Promise(setImmediate);
    for (let next = this.held.shift(); next; next = this.held.shift()) {
      next();
      await new Promise(setImmediate);
    }
  }
}

describe('password checks', () => {
  it('serve owners in turn, and the visitors of each owner in turn', async () => {
    const held = new HeldChecks();
    const asked: Promise<boolean>[] = [];
    for (let at = 0; at < 10; at += 1) asked.push(held.ask(1, 'flood', `flood ${at}`));
    asked.push(held.ask(1, 'guest', 'guest of 1'), held.ask(2, 'a', 'a of 2'), held.ask(2, 'a', 'a of 2 again'));
    await held.releaseAll();
    await Promise.all(asked);
    expect(held.begun.slice(4, 8)).toEqual(['flood 4', 'a of 2', 'guest of 1', 'a of 2 again']);
    expect(held.begun).toHaveLength(13);
  });

  it('refuse a check of the owner with the most waiting ones when there is no room', async () => {
    const held = new HeldChecks();
    const flood = Array.from({ length: 68 }, (_, at) => held.ask(1, `address ${at}`, `flood ${at}`));
    await expect(held.ask(1, 'one more', 'x')).rejects.toMatchObject({ code: 'overloaded' });
    const other = held.ask(2, 'a', 'a of 2');
    const results = Promise.allSettled([...flood, other]);
    await held.releaseAll();
    const statuses = (await results).map(({ status }) => status);
    expect(statuses.filter((status) => status === 'rejected')).toHaveLength(1);
    expect(statuses.at(-1)).toBe('fulfilled');
    expect(held.begun.indexOf('a of 2')).toBeLessThan(7);
  });
});
