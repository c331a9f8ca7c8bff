import { describe, expect, it } from 'vitest';
import { Departures } from './departures.js';

interface World {
  departures: Departures;
  reported: string[];
  elsewhere: Set<number>;
  here: Set<number>;
  knowsAll: boolean;
  look: (times: number) => void;
}

function world(): World {
  const reported: string[] = [];
  const rig = { reported, elsewhere: new Set<number>(), here: new Set<number>(), knowsAll: true };
  const departures = new Departures(
    {
      isOnline: (id) => rig.here.has(id) || rig.elsewhere.has(id),
      isElsewhere: (id) => rig.elsewhere.has(id),
      knowsAll: () => world.knowsAll,
    },
    (id, reason) => reported.push(`${id} ${reason}`),
  );
  const look = (times: number): void => {
    for (let count = 0; count < times; count += 1) departures.look();
  };
  const world = Object.assign(rig, { departures, look });
  return world;
}

describe('departures of agents', () => {
  it('are reported at once where no other edge has an agent', () => {
    const { departures, reported } = world();
    expect(departures.arrived(1)).toBe(true);
    departures.left(1, 'closed');
    expect(reported).toEqual(['1 closed']);
  });

  it('are no news while another edge has an agent, and are reported when that one has left, too', () => {
    const { departures, reported, elsewhere, look } = world();
    elsewhere.add(1);
    expect(departures.arrived(1)).toBe(false);
    departures.left(1, 'closed');
    look(10);
    expect(reported).toEqual([]);
    elsewhere.clear();
    look(3);
    // The edge that had it reports first.
    expect(reported).toEqual([]);
    look(1);
    expect(reported).toEqual(['1 closed']);
    look(10);
    expect(reported).toHaveLength(1);
  });

  it('are forgotten when an agent comes back, which is no news then', () => {
    const { departures, reported, elsewhere, look } = world();
    elsewhere.add(1);
    departures.left(1, 'closed');
    elsewhere.clear();
    look(2);
    expect(departures.arrived(1)).toBe(false);
    look(10);
    expect(reported).toEqual([]);
  });

  it('are not reported while an edge that may have an agent is not reached', () => {
    const rig = world();
    rig.knowsAll = false;
    rig.departures.left(1, 'closed');
    rig.look(10);
    expect(rig.reported).toEqual([]);
    rig.knowsAll = true;
    rig.look(4);
    expect(rig.reported).toEqual(['1 closed']);
  });
});
