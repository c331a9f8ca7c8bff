import { expect, it } from 'vitest';
import { RestartWaits } from './restart-waits.js';

it('a process that dies young again and again is waited for longer, up to a limit; one that lived is not', () => {
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
