import { describe, expect, it } from 'vitest';
import { runBatches } from './bulk/run-batches.js';
import { withMembers } from './bulk/with-members.js';
import { NONE_SELECTED, selectedOf, toggle, toggleAll } from './selection.js';

const ORDER = [5, 3, 9, 1, 7];

describe('a selection of rows', () => {
  it('has single rows and ranges in either direction', () => {
    let selection = toggle(NONE_SELECTED, ORDER, 9, false);
    selection = toggle(selection, ORDER, 7, true);
    expect(selectedOf(selection, ORDER)).toEqual([9, 1, 7]);
    selection = toggle(selection, ORDER, 5, true);
    expect(selectedOf(selection, ORDER)).toEqual(ORDER);
    selection = toggle(selection, ORDER, 3, false);
    expect(selectedOf(selection, ORDER)).toEqual([5, 9, 1, 7]);
    // A range that begins at a row that was taken out takes its rows out, too.
    expect(selectedOf(toggle(selection, ORDER, 1, true), ORDER)).toEqual([5, 7]);
  });

  it('starts again if the first row of a range is no longer shown', () => {
    const selection = toggle(NONE_SELECTED, ORDER, 9, false);
    expect(selectedOf(toggle(selection, [5, 3, 7], 7, true), [5, 3, 7])).toEqual([7]);
  });

  it('has all rows or none', () => {
    const all = toggleAll(NONE_SELECTED, ORDER);
    expect(selectedOf(all, ORDER)).toEqual(ORDER);
    expect(toggleAll(all, ORDER)).toEqual(NONE_SELECTED);
    expect(selectedOf(all, [9, 2])).toEqual([9]);
  });
});

describe('a bulk action', () => {
  const signal = new AbortController().signal;

  it('accounts for each node, also for those that the service refuses', async () => {
    const seen: number[] = [];
    const outcome = await runBatches([1, 2, 3, 4, 5], {
      size: 2,
      signal,
      send: (ids) =>
        Promise.resolve({
          done: ids.filter((id) => id % 2 === 0),
          failed: ids.filter((id) => id % 2 === 1).map((id) => ({ id, message: 'odd' })),
        }),
      onProgress: ({ left }) => seen.push(left.length),
    });
    expect(outcome.done).toEqual([2, 4]);
    expect(outcome.failed.map(({ id }) => id)).toEqual([1, 3, 5]);
    expect(seen).toEqual([3, 1, 0]);
  });

  it('ends where the service no longer answers, and keeps what was not tried', async () => {
    let calls = 0;
    const outcome = await runBatches([1, 2, 3, 4], {
      size: 1,
      signal,
      send: (ids) => (++calls === 2 ? Promise.reject(new Error('away')) : Promise.resolve({ done: ids, failed: [] })),
    });
    expect(outcome).toEqual({ done: [1], failed: [{ id: 2, message: 'away' }], left: [3, 4] });
  });

  it('stops between two requests', async () => {
    const stop = new AbortController();
    const outcome = await runBatches([1, 2, 3], {
      size: 1,
      signal: stop.signal,
      send: (ids) => {
        stop.abort();
        return Promise.resolve({ done: ids, failed: [] });
      },
    });
    expect(outcome).toEqual({ done: [1], failed: [], left: [2, 3] });
  });
});

it('nodes join a group before the built-ins at its end, and only once', () => {
  expect(withMembers(['AUTO', 'n3', 'DIRECT', 'REJECT'], [3, 8, 9])).toEqual({
    members: ['AUTO', 'n3', 'n8', 'n9', 'DIRECT', 'REJECT'],
    added: 2,
  });
  expect(withMembers(['DIRECT'], [1]).members).toEqual(['n1', 'DIRECT']);
});
