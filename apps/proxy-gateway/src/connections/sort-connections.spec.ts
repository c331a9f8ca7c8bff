import { describe, expect, it } from 'vitest';
import { aConnection, NOON } from '../../test/support/flows.js';
import { SORT_VALUES, sortConnections } from './sort-connections.js';

const connections = [
  aConnection({
    id: 'a',
    host: 'b.example',
    startedAt: NOON,
    upload: 3,
    download: 1,
    uploadSpeed: 0,
    downloadSpeed: 5,
  }),
  aConnection({ id: 'b', host: null, destinationIp: '10.0.0.1', startedAt: NOON + 5, upload: 1, download: 2 }),
  aConnection({ id: 'c', host: 'a.example', startedAt: NOON + 5, upload: 2, download: 3 }),
];
const order = (sort?: string): string =>
  sortConnections(connections, sort)
    .map(({ id }) => id)
    .join('');

describe('sortConnections', () => {
  it.each([
    [undefined, 'bca'],
    ['start', 'abc'],
    ['-duration_ms', 'abc'],
    ['upload', 'bca'],
    ['-download', 'cba'],
    ['-download_speed', 'bca'],
    ['host', 'bca'],
  ])('%s', (sort, expected) => {
    expect(order(sort)).toBe(expected);
  });

  it('does not change its input and accepts every value it lists', () => {
    const before = connections.map(({ id }) => id);
    for (const sort of SORT_VALUES) expect(order(sort)).toHaveLength(3);
    expect(connections.map(({ id }) => id)).toEqual(before);
  });
});
