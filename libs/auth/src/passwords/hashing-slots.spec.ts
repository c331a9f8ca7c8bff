import { describe, expect, it } from 'vitest';
import { HashingSlots, type HashingTrust, type HashingTurn } from './hashing-slots.js';

const of = (client: string, trust: HashingTrust = 'new'): HashingTurn => ({ client, trust });

/** Work that ends on request, and who did it in which order. */
class Bench {
  readonly slots: HashingSlots;
  readonly order: string[] = [];
  private readonly gates: (() => void)[] = [];
  running = 0;
  most = 0;

  constructor(waiting: number, slots = 1, rest = 0) {
    this.slots = new HashingSlots({ slots, waiting, rest });
  }

  ask(turn: HashingTurn): Promise<void> {
    const asked = this.slots.run(turn, async () => {
      this.order.push(turn.client);
      this.running += 1;
      this.most = Math.max(this.most, this.running);
      await new Promise<void>((resolve) => this.gates.push(resolve));
      this.running -= 1;
    });
    asked.catch(() => undefined);
    return asked;
  }

  async finish(count: number): Promise<void> {
    for (let done = 0; done < count; done++) {
      await expect.poll(() => this.gates.length).toBeGreaterThan(0);
      this.gates.shift()?.();
    }
  }
}

const refused = { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 5 };

describe('hashing slots', () => {
  it('run a fixed number at a time, queue some and refuse the rest', async () => {
    const bench = new Bench(3, 2);
    const accepted = [1, 2, 3, 4, 5].map(() => bench.ask(of('one')));
    await expect(bench.ask(of('one'))).rejects.toMatchObject(refused);
    await bench.finish(5);
    await Promise.all(accepted);
    expect(bench.most).toBe(2);
    expect(await bench.slots.run(of('one'), () => Promise.resolve('free again'))).toBe('free again');
  });

  it('serve clients in turn, whatever the number of requests of one client', async () => {
    const bench = new Bench(20);
    const asked = [...Array.from({ length: 6 }, () => 'storm'), 'ada', 'bob', 'ada'].map((name) => bench.ask(of(name)));
    await bench.finish(9);
    await Promise.all(asked);
    expect(bench.order.slice(0, 5)).toEqual(['storm', 'storm', 'ada', 'bob', 'storm']);
  });

  it('refuse the client with the most waiting requests when there is no room', async () => {
    const bench = new Bench(4);
    const storm = Array.from({ length: 5 }, () => bench.ask(of('storm')));
    const ada = bench.ask(of('ada'));
    await expect(storm[4]).rejects.toMatchObject(refused);
    const bob = bench.ask(of('bob'));
    await expect(storm[3]).rejects.toMatchObject(refused);
    await expect(bench.ask(of('storm'))).rejects.toMatchObject(refused);
    await bench.finish(5);
    await Promise.all([...storm.slice(0, 3), ada, bob]);
    expect(bench.order).toEqual(['storm', 'storm', 'ada', 'bob', 'storm']);
  });

  it('refuse clients that failed before new ones, and new ones before known ones', async () => {
    const bench = new Bench(3);
    const [running, ...failing] = ['a', 'b', 'c', 'd'].map((name) => bench.ask(of(name, 'failing')));
    await expect(bench.ask(of('e', 'failing'))).rejects.toMatchObject(refused);
    const fresh = ['f', 'g', 'h'].map((name) => bench.ask(of(name)));
    for (const one of failing) await expect(one).rejects.toMatchObject(refused);
    await expect(bench.ask(of('i'))).rejects.toMatchObject(refused);
    const known = bench.ask(of('ada', 'known'));
    await expect(fresh[0]).rejects.toMatchObject(refused);
    await bench.finish(4);
    await Promise.all([running, fresh[1], fresh[2], known]);
    expect(bench.order).toEqual(['a', 'g', 'ada', 'h']);
  });

  it('leave half of the room to new clients, however many known ones there are', async () => {
    const bench = new Bench(4);
    const known = Array.from({ length: 5 }, () => bench.ask(of('mallory', 'known')));
    const fresh = ['ada', 'bob'].map((name) => bench.ask(of(name)));
    for (const one of known.slice(3)) await expect(one).rejects.toMatchObject(refused);
    await expect(bench.ask(of('cy'))).rejects.toMatchObject(refused);
    await bench.finish(5);
    await Promise.all([...known.slice(0, 3), ...fresh]);
    expect(bench.order).toEqual(['mallory', 'ada', 'mallory', 'bob', 'mallory']);
  });

  it('serve the three groups in turn, so that none of them blocks the others', async () => {
    const bench = new Bench(9);
    const turns = [
      ...Array.from({ length: 4 }, () => of('mallory', 'known')),
      of('ada'),
      of('bob'),
      of('x', 'failing'),
    ];
    const asked = turns.map((turn) => bench.ask(turn));
    await bench.finish(7);
    await Promise.all(asked);
    expect(bench.order).toEqual(['mallory', 'ada', 'x', 'mallory', 'bob', 'mallory', 'mallory']);
  });

  it('check again whether there is still work to do when the turn has come', async () => {
    const bench = new Bench(3);
    const first = bench.ask(of('one'));
    let wanted = true;
    const assertWanted = (): void => {
      if (!wanted) throw new Error('no more');
    };
    const second = bench.slots.run({ ...of('one'), assertWanted }, () => Promise.resolve('hashed'));
    second.catch(() => undefined);
    wanted = false;
    await bench.finish(1);
    await first;
    await expect(second).rejects.toThrow('no more');
    expect(await bench.slots.run(of('one'), () => Promise.resolve('free again'))).toBe('free again');
  });

  it('rest between two hashes while others wait', async () => {
    const slots = new HashingSlots({ slots: 1, waiting: 5, rest: 1 });
    const times: number[] = [];
    const work = async (): Promise<void> => {
      const until = performance.now() + 40;
      await new Promise<void>((resolve) => setTimeout(resolve, 40));
      while (performance.now() < until) await new Promise<void>((resolve) => setImmediate(resolve));
      times.push(performance.now());
    };
    const started = performance.now();
    await Promise.all([1, 2, 3].map(() => slots.run(of('one'), work)));
    expect((times[2] ?? 0) - started).toBeGreaterThan(5 * 40 - 15);
  });

  it('free the slot when the work fails', async () => {
    const slots = new HashingSlots({ slots: 1, waiting: 0, rest: 0 });
    await expect(slots.run(of('one'), () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(await slots.run(of('one'), () => Promise.resolve(1))).toBe(1);
  });
});
