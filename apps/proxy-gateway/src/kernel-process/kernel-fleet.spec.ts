import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { ChildMessage, KernelReady, ParentMessage } from '../common/kernel-ipc.js';
import { KernelUnavailableError } from './kernel-errors.js';
import { KernelFleet } from './kernel-fleet.js';
import { KernelMember, type MemberListener } from './kernel-member.js';
import type { KernelChild } from './kernel-process.js';

/** A connection to a kernel that the test plays. */
class FakeLink extends EventEmitter implements KernelChild {
  pid = 1;
  asked: string[] = [];
  result: unknown = null;

  send(message: ParentMessage, callback: (error: Error | null) => void): boolean {
    this.asked.push(message.method);
    callback(null);
    queueMicrotask(() => this.emit('message', { type: 'response', id: message.id, ok: true, result: this.result }));
    return true;
  }

  kill(): boolean {
    this.emit('exit', null, 'the connection was closed');
    return true;
  }

  greet(instance: string, more: Partial<KernelReady> = {}): void {
    this.emit('message', { type: 'ready', pid: 1, instance, ...more } satisfies ChildMessage);
  }
}

function setup() {
  const links = new Map<string, FakeLink[]>();
  const gone: string[] = [];
  const listener: MemberListener = {
    ready: (member) => void fleet.accept(member),
    applied: () => Promise.resolve(),
    gone: (member, reason) => {
      gone.push(`${member.place}: ${reason}`);
      fleet.lost(member);
    },
    events: () => undefined,
    live: () => undefined,
    unstored: () => undefined,
  };
  const read = { whole: () => Promise.reject(new Error('unused')), selections: () => Promise.resolve(new Map()) };
  const fleet: KernelFleet = new KernelFleet(
    (found) =>
      new KernelMember({
        place: found.place,
        launch: () => found.launch('embedded', ''),
        separate: true,
        read,
        hasOthers: () => fleet.several,
        listener,
      }),
  );
  const use = (...places: string[]): void =>
    fleet.use(
      places.map((place) => ({
        place,
        launch: () => {
          const link = new FakeLink();
          links.set(place, [...(links.get(place) ?? []), link]);
          return link;
        },
      })),
    );
  const link = (place: string): FakeLink => links.get(place)?.at(-1) ?? new FakeLink();
  const places = (): string[] => fleet.members.map(({ place }) => place);
  return { fleet, use, link, places, gone, dials: (place: string) => links.get(place)?.length ?? 0 };
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('KernelFleet', () => {
  it('drives a kernel over one of its addresses, and over another one when that is lost', async () => {
    const { fleet, use, link, places } = setup();
    use('a', 'b');
    link('a').greet('run 1');
    link('b').greet('run 1');
    expect([places(), fleet.several]).toEqual([['a'], false]);
    use('a', 'b');
    expect(places()).toEqual(['a']);
    link('a').kill();
    await nextTurn();
    expect(places()).toEqual(['a', 'b']);
    link('b').greet('run 1');
    expect(fleet.running.map(({ place }) => place)).toEqual(['b']);
    await fleet.stop(0);
  });

  it('keeps a kernel that is no longer found until its connection ends', async () => {
    const { fleet, use, link, places } = setup();
    use('a', 'b');
    link('a').greet('run 1');
    link('b').greet('run 2');
    use('b');
    expect(places()).toEqual(['a', 'b']);
    link('a').kill();
    await nextTurn();
    expect(places()).toEqual(['b']);
    await fleet.stop(0);
  });

  it('names kernels only if there are several', async () => {
    const { fleet, use, link } = setup();
    use('a', 'b');
    const identity = { id: '1', name: 'first', version: '1.0.0', publicHost: null, startedAt: 0 };
    link('a').greet('run 1', { identity });
    expect(fleet.members.map(({ name }) => name)).toEqual([null, null]);
    // A kernel of an older version does not say its name.
    link('b').greet('run 2');
    expect(fleet.members.map(({ name }) => name)).toEqual(['first', 'b']);
    await fleet.stop(0);
  });

  it('answers with those that can, and fails only if none can', async () => {
    const { fleet, use, link } = setup();
    use('a', 'b');
    await expect(fleet.askAll('usage', null)).rejects.toThrow(KernelUnavailableError);
    link('b').greet('run 2');
    link('b').result = { DIRECT: { connections: 1, upload: 2, download: 3 } };
    const answers = await fleet.askAll('usage', null);
    expect(answers.map(({ from, answer }) => [from.place, answer])).toEqual([['b', link('b').result]]);
    await fleet.stop(0);
  });

  it('finds the kernels that have records, as long as they run', async () => {
    const { fleet, use, link } = setup();
    use('a', 'b');
    link('a').greet('run 1');
    link('b').greet('run 2');
    const [one, two] = fleet.members;
    if (!one || !two) throw new Error('both were found');
    fleet.note(one, { source: { spool: 's1', first: 1, last: 1 } });
    fleet.note(two, { source: { spool: 's2', first: 1, last: 1 } });
    const ranges = ['s1', 's2', 'unknown'].map((spool) => ({ spool, first: 1, last: 9 }));
    expect([...fleet.ownersOf(ranges)]).toEqual([
      [one, [ranges[0]]],
      [two, [ranges[1]]],
    ]);
    link('a').kill();
    expect([...fleet.ownersOf(ranges).keys()]).toEqual([two]);
    await fleet.stop(0);
  });
});
