import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReplayWindow } from './replay-window.js';
import { PacketOpener, packetKeys, packetLink, PacketSealer } from './sealed-packets.js';

const material = randomBytes(70);
const keys = packetKeys(() => material);

function sealed(): Buffer {
  return Buffer.concat(new PacketSealer(keys.link, keys.agent).seal(Buffer.from('frames')) ?? []);
}

describe('sealed packets', () => {
  it('can be opened once, and only with the right key', () => {
    const packet = sealed();
    expect(packetLink(packet)).toBe(keys.link);
    const opener = new PacketOpener(keys.agent);
    expect(opener.open(packet)).toEqual({ plain: Buffer.from('frames'), newest: true });
    expect(opener.open(packet)).toBeNull();
    expect(opener).toMatchObject({ replayed: 1, forged: 0 });
    // What one side sends cannot be sent back to it.
    expect(new PacketOpener(keys.server).open(packet)).toBeNull();
  });

  it('cannot be opened if any bit was changed', () => {
    const packet = sealed();
    fc.assert(
      fc.property(fc.nat(packet.length * 8 - 1), (bit) => {
        const changed = Buffer.from(packet);
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(new PacketOpener(keys.agent).open(changed)).toBeNull();
      }),
    );
  });

  it('are not opened from random bytes', () => {
    const opener = new PacketOpener(keys.agent);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (value) => {
        const packet = Buffer.from(value);
        if (packetLink(packet) !== null) expect(opener.open(packet)).toBeNull();
        else expect(packet.length).toBeLessThan(28);
      }),
    );
  });
});

describe('packet keys', () => {
  it('seal no more packets than allowed, and report it in time', () => {
    let spent = 0;
    const sealer = new PacketSealer(keys.link, keys.agent, { most: 8, onSpent: () => (spent += 1) });
    const made = Array.from({ length: 10 }, (_, index) => {
      if (index === 6) expect(spent).toBe(0);
      return sealer.seal(Buffer.from('frames'));
    });
    expect(made.map((packet) => packet !== null)).toEqual([...Array(8).fill(true), false, false]);
    expect(sealer.exhausted).toBe(true);
    expect(spent).toBe(1);
  });

  it('open nothing after too many forged packets, and report it in time', () => {
    let spent = 0;
    const opener = new PacketOpener(keys.agent, { most: 4, onSpent: () => (spent += 1) });
    const forged = sealed();
    forged[20] = (forged[20] ?? 0) ^ 1;
    for (let count = 0; count < 3; count++) expect(opener.open(forged)).toBeNull();
    expect(spent).toBe(1);
    expect(opener.open(sealed())).not.toBeNull();
    opener.open(Buffer.concat([forged.subarray(0, 6), Buffer.alloc(60, 9)]));
    expect(opener.open(Buffer.concat([sealed().subarray(0, 11), Buffer.alloc(60, 8)]))).toBeNull();
    expect(opener.forged).toBe(4);
    expect(spent).toBe(1);
  });
});

describe('the replay window', () => {
  it('accepts each number once unless it is too old, like a set', () => {
    const step = fc.oneof(fc.integer({ min: -1100, max: 40 }), fc.integer({ min: 0, max: 5000 }));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const window = new ReplayWindow();
        const seen = new Set<number>();
        let newest = -1;
        for (const change of steps) {
          const sequence = Math.max(0, newest + change);
          const expected = !seen.has(sequence) && sequence > newest - 1024;
          expect(window.fresh(sequence)).toBe(expected);
          if (!expected) continue;
          expect(window.accept(sequence)).toBe(sequence > newest);
          seen.add(sequence);
          newest = Math.max(newest, sequence);
        }
      }),
      { numRuns: 300 },
    );
  });
});
