import { expect, it } from 'vitest';
import { RestartWaits } from './restart-waits.js';

it('the wait grows for a process that keeps dying young, up to a limit, and is short for one that lived', () => {
  let now = 0;
  const waits = new RestartWaits({ now: () => now });
  const after = (ms: number): number => {
    waits.started();
    now += ms;
    return waits.died();
  };
  expect([after(0), after(9_999), after(0), after(0), after(0), after(0), after(0)]).toEqual([
    50, 100, 200, 400, 800, 800, 800,
  ]);
  expect([after(10_000), after(0), after(0)]).toEqual([50, 50, 100]);
});
