import { expect, it } from 'vitest';
import { aDelta, NOON } from '../../test/support/flows.js';
import { SpeedMeter } from './speed-meter.js';

it('computes bytes per second from deltas, and zero once they stop', () => {
  const meter = new SpeedMeter();
  expect(meter.read(NOON)).toEqual({ upload: 0, download: 0 });
  meter.add(aDelta({ at: NOON, upload: 100, download: 200 }), NOON);
  expect(meter.read(NOON + 10)).toEqual({ upload: 100, download: 200 });
  meter.add(aDelta({ at: NOON + 1_250, upload: 100, download: 1_000 }), NOON + 1_250);
  expect(meter.read(NOON + 1_300)).toEqual({ upload: 80, download: 800 });
  expect(meter.read(NOON + 5_000)).toEqual({ upload: 0, download: 0 });
  meter.add(aDelta({ at: NOON + 90_000, upload: 10, download: 0 }), NOON + 90_000);
  expect(meter.read(NOON + 90_000)).toEqual({ upload: 5, download: 0 });
});
