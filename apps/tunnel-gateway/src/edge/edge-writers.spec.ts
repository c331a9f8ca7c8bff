import { expect, it } from 'vitest';
import { DatabasePresence } from './database-presence.js';
import { EdgeWriters } from './edge-writers.js';

function rig(): { writers: EdgeWriters; lines: string[] } {
  const lines: string[] = [];
  const note = (message: string): void => void lines.push(message);
  const logger = { debug: note, info: note, warn: note, error: note };
  return { writers: new EdgeWriters(logger, new DatabasePresence(logger)), lines };
}

const denied = Object.assign(new Error('permission denied for table events'), { severity: 'ERROR', code: '42501' });
const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

it('runs every writer, and names the one that the database refuses until it accepts it', async () => {
  const { writers, lines } = rig();
  const done: string[] = [];
  await writers.run('events', () => Promise.reject(denied));
  await writers.run('counters', async () => void done.push('counters'));
  expect(done).toEqual(['counters']);
  expect(writers.problems).toEqual(['the edge cannot write events: permission denied for table events']);
  expect(lines[0]).toBe('the database answers with an error; serving goes on');
  await writers.run('events', () => Promise.resolve());
  expect(writers.problems).toEqual([]);
});

it('reports that the database does not answer, and blames no writer', async () => {
  const { writers, lines } = rig();
  await writers.run('events', () => Promise.reject(away));
  expect(lines).toEqual(['the database does not answer; serving goes on']);
  expect(writers.problems).toEqual([]);
});

it('counts the batches that were set aside', () => {
  const { writers, lines } = rig();
  writers.refused('counters', [{ id: 1 }, { id: 2 }], denied);
  expect(writers.refusedRows).toBe(2);
  expect(lines).toEqual(['the database refuses counters; they are set aside']);
});
