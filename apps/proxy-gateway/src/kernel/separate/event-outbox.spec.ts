import { PassThrough } from 'node:stream';
import { ControlLink } from '@gatehouse/net';
import { describe, expect, it } from 'vitest';
import { KernelEventQueue } from '../kernel-event-queue.js';
import type { EventBatch } from '../../common/kernel-ipc.js';
import { EventOutbox } from './event-outbox.js';

const BATCH: EventBatch = {
  closed: [],
  traffic: [],
  switched: [],
  circuits: [],
  logs: [],
  dropped: { closed: 1, traffic: 0, changes: 0, logs: 0 },
};

/** A link that records what is sent through it. */
function linkThat(): { link: ControlLink; sent: number[] } {
  const link = new ControlLink(new PassThrough());
  const sent: number[] = [];
  link.send = (message) => {
    sent.push((message as { number: number }).number);
    return Promise.resolve();
  };
  return { link, sent };
}

describe('EventOutbox', () => {
  it('sends a batch to the newest link, and repeats it after that is closed, until it is acknowledged', async () => {
    const outbox = new EventOutbox();
    let done = false;
    const sending = outbox.send(BATCH).then(() => (done = true));
    const [first, second] = [linkThat(), linkThat()];
    outbox.attach(first.link);
    outbox.attach(second.link);
    expect([first.sent, second.sent]).toEqual([[1], [1]]);
    second.link.close();
    expect(first.sent).toEqual([1, 1]);
    outbox.acknowledged(7, first.link);
    expect(outbox.unsent).toEqual(BATCH);
    expect(done).toBe(false);
    outbox.acknowledged(1, first.link);
    await sending;
    expect(outbox.unsent).toBeNull();
    first.link.close();
  });
});

describe('KernelEventQueue without a reader', () => {
  it('adds up traffic instead of losing it, and returns what is waiting', () => {
    const queue = new KernelEventQueue(() => new Promise(() => undefined));
    for (let at = 1; at <= 1_000; at++) {
      const share = { upload: 1, download: 2, opened: 1, failed: 0 };
      queue.traffic({ at, upload: 1, download: 2, outbounds: { n1: share }, rules: { 5: { hits: 1, lastHitAt: at } } });
    }
    const batches = queue.drain();
    const traffic = batches.flatMap((batch) => batch.traffic);
    expect(traffic.length).toBeLessThan(1_000);
    expect(batches.map(({ dropped }) => dropped.traffic)).toEqual([0]);
    const sum = (pick: (delta: (typeof traffic)[number]) => number): number =>
      traffic.reduce((total, delta) => total + pick(delta), 0);
    expect(sum(({ upload }) => upload)).toBe(1_000);
    expect(sum(({ outbounds }) => outbounds['n1']!.download)).toBe(2_000);
    expect(sum(({ rules }) => rules['5']!.hits)).toBe(1_000);
    expect(traffic.at(-1)!.rules['5']!.lastHitAt).toBe(1_000);
    const next = new KernelEventQueue(() => Promise.resolve());
    for (const batch of batches) next.restore(batch);
    expect(next.drain()).toEqual(batches);
  });
});
