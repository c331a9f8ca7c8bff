import { describe, expect, it } from 'vitest';
import { aDelta, NOON } from '../../test/support/flows.js';
import { TrafficHistory } from './traffic-history.js';

describe('TrafficHistory', () => {
  it('has a point for each interval, zero without traffic', () => {
    const history = new TrafficHistory();
    history.add(aDelta({ at: NOON - 61_000, upload: 1, download: 10 }));
    history.add(aDelta({ at: NOON + 500, upload: 2, download: 20 }));
    history.add(aDelta({ at: NOON + 900, upload: 3, download: 30 }));
    expect(history.series(NOON + 1_500, 1, 3)).toEqual([
      { t: new Date(NOON - 1_000).toISOString(), up: 0, down: 0 },
      { t: new Date(NOON).toISOString(), up: 5, down: 50 },
      { t: new Date(NOON + 1_000).toISOString(), up: 0, down: 0 },
    ]);
    expect(history.series(NOON + 1_500, 60, 3)).toEqual([
      { t: new Date(NOON - 120_000).toISOString(), up: 1, down: 10 },
      { t: new Date(NOON - 60_000).toISOString(), up: 0, down: 0 },
      { t: new Date(NOON).toISOString(), up: 5, down: 50 },
    ]);
  });

  it('forgets traffic older than an hour', () => {
    const history = new TrafficHistory();
    history.add(aDelta({ at: NOON, upload: 7 }));
    history.add(aDelta({ at: NOON + 3_600_000, upload: 1 }));
    const points = history.series(NOON + 3_600_000, 60, 60);
    expect(points).toHaveLength(60);
    expect(points.reduce((sum, { up }) => sum + up, 0)).toBe(1);
  });
});
