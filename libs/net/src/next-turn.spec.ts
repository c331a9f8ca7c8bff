import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { NextTurn, onFlowFailure } from './index.js';

it('runs its work once a turn, in the next turn', async () => {
  let times = 0;
  const work = new NextTurn(null, () => (times += 1));
  work.schedule();
  work.schedule();
  expect(times).toBe(0);
  await nextTurn();
  expect(times).toBe(1);
  work.schedule();
  await nextTurn();
  expect(times).toBe(2);
});

it('ends its flow after an exception, and can be requested again', async () => {
  const seen: string[] = [];
  const forget = onFlowFailure(({ error }) => seen.push(error.message));
  let ended = 0;
  const flow = { destroy: () => (ended += 1) };
  const work = new NextTurn(flow, () => {
    throw new Error('a defect');
  });
  work.schedule();
  await nextTurn();
  work.schedule();
  await nextTurn();
  forget();
  expect([ended, seen]).toEqual([2, ['a defect', 'a defect']]);
});
