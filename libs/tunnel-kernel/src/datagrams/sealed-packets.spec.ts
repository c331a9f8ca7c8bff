import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ReplayWindow } from './replay-window.js';
import { PacketOpener, packetKeys, packetLink, PacketSealer } from './sealed-packets.js';

const material = randomBytes(70);
const keys = packetKeys(() => material);

describe('sealed packets', () => {
  it('open once at the other end, and with no other key', () => {
    const packet = Buffer.concat(new PacketSealer(keys.link, keys.agent).seal(Buffer.from('frames')));
    expect(packetLink(packet)).toBe(keys.link);
    const opener = new PacketOpener(keys.agent);
    expect(opener.open(packet)).toEqual({ plain: Buffer.from('frames'), newest: true });
    expect(opener.open(packet)).toBeNull();
    expect(opener).toMatchObject({ replayed: 1, forged: 0 });
    // What one side sends cannot be sent back to it.
    expect(new PacketOpener(keys.server).open(packet)).toBeNull();
  });

  it('with any bit changed do not open', () => {
    const packet = Buffer.concat(new PacketSealer(keys.link, keys.agent).seal(Buffer.from('frames')));
    fc.assert(
      fc.property(fc.nat(packet.length * 8 - 1), (bit) => {
        const changed = Buffer.from(packet);
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(new PacketOpener(keys.agent).open(changed)).toBeNull();
      }),
    );
  });

  it('of any bytes are no packets', () => {
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

describe('the replay window', () => {
  it('lets every number pass once, as a set would, as long as it is not far behind', () => {
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
