import { describe, expect, it } from 'vitest';
import { aConnection } from '../../test/support/flows.js';
import { flowNames } from '../data/flow-names.js';
import { liveDomains, liveNodes, nameNodes } from './live-lists.js';

const direct = { chain: ['DIRECT'], nodeTag: null };
const connections = [
  aConnection({ id: '1', host: 'a.example', upload: 1, download: 2, uploadSpeed: 0, downloadSpeed: 0 }),
  aConnection({
    id: '2',
    host: 'a.example',
    upload: 1,
    download: 2,
    uploadSpeed: 0,
    downloadSpeed: 0,
    nodeTag: 'n8',
    chain: ['PROXY', 'n8'],
  }),
  aConnection({
    id: '3',
    host: null,
    destinationIp: '10.0.0.1',
    upload: 0,
    download: 0,
    uploadSpeed: 9,
    downloadSpeed: 1,
    ...direct,
  }),
];

describe('live lists', () => {
  it('sums by domain or address, the fastest first', () => {
    expect(liveDomains(connections)).toEqual([
      { domain: '10.0.0.1', connections: 1, upload: 0, download: 0, upload_speed: 9, download_speed: 1, node_count: 0 },
      {
        domain: 'a.example',
        connections: 2,
        upload: 2,
        download: 4,
        upload_speed: 0,
        download_speed: 0,
        node_count: 2,
      },
    ]);
  });

  it('sums by the node that carries the bytes, with its name', () => {
    const card = {
      id: 7,
      name: 'Tokyo',
      type: 'ss',
      country: 'JP',
      alive: null,
      delayMs: null,
      exitIp: null,
      subscriptionName: null,
    };
    const named = nameNodes(liveNodes(connections), flowNames(new Map([[7, card]])));
    expect(named.map(({ node_id, name, country, connections: count }) => ({ node_id, name, country, count }))).toEqual([
      { node_id: null, name: 'DIRECT', country: null, count: 1 },
      { node_id: 7, name: 'Tokyo', country: 'JP', count: 1 },
      { node_id: 8, name: 'n8', country: null, count: 1 },
    ]);
    expect(named[0]).not.toHaveProperty('tag');
  });

  it('counts each connection once in each list', () => {
    const total = (items: readonly { connections: number; upload: number; download: number }[]) =>
      items.reduce(
        (sum, item) => [sum[0]! + item.connections, sum[1]! + item.upload, sum[2]! + item.download],
        [0, 0, 0],
      );
    expect(total(liveDomains(connections))).toEqual([3, 2, 4]);
    expect(total(liveNodes(connections))).toEqual([3, 2, 4]);
  });

  it('returns empty lists without connections', () => {
    expect(liveDomains([])).toEqual([]);
    expect(liveNodes([])).toEqual([]);
  });
});
