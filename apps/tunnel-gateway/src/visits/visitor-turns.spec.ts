import { expect, it } from 'vitest';
import { VisitorTurns } from './visitor-turns.js';

it('runs eight requests of one client at a time, and sixty-four in all', () => {
  const turns = new VisitorTurns();
  for (let count = 0; count < 8; count += 1) expect(turns.take('slow')).toBe(true);
  expect(turns.take('slow')).toBe(false);
  for (let count = 0; count < 56; count += 1) expect(turns.take(`client ${count}`)).toBe(true);
  expect(turns.take('another')).toBe(false);
  turns.done('slow');
  expect(turns.take('another')).toBe(true);
  turns.done('another');
  expect([turns.take('slow'), turns.take('slow')]).toEqual([true, false]);
});
