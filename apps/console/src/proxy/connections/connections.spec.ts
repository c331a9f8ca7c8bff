import type { ConnectionView } from '@gatehouse/contracts';
import { describe, expect, it } from 'vitest';
import { choicesOf, matchingConnections, NO_FILTER, ruleOf, type ConnectionFilter } from './connection-filter.js';
import { MAX_CLOSED, nextHistory, NO_HISTORY } from './connection-history.js';
import { sortConnections } from './connection-order.js';

const START = '2026-05-17T12:00:00.000Z';

function aConnection(overrides: Partial<ConnectionView> = {}): ConnectionView {
  return {
    id: 'a',
    network: 'tcp',
    host: 'www.example.com',
    sniff_host: null,
    destination_ip: null,
    remote_destination: '198.51.100.7',
    source_ip: '192.168.1.20',
    source_port: 5_000,
    inbound_name: 'mixed',
    inbound_user: null,
    rule: 'DOMAIN-SUFFIX',
    rule_payload: 'example.com',
    chains: ['PROXY', 'Tokyo'],
    upload: 1,
    download: 2,
    upload_speed: 3,
    download_speed: 4,
    start: START,
    duration_ms: 500,
    ...overrides,
  } as ConnectionView;
}

describe('closed connections', () => {
  const at = Date.parse(START) + 2_000;

  it('are those that a later look does not find, as they were when they were last seen', () => {
    const [a, b] = [aConnection(), aConnection({ id: 'b' })];
    const first = nextHistory(NO_HISTORY, [a, b], at - 1_000);
    expect(first.closed).toEqual([]);
    const second = nextHistory(first, [b], at);
    expect([...second.open.values()]).toEqual([b]);
    expect(second.closed).toEqual([
      { ...a, upload_speed: 0, download_speed: 0, duration_ms: 2_000, closed_at: '2026-05-17T12:00:02.000Z' },
    ]);
    expect(nextHistory(second, [b], at + 1).closed).toBe(second.closed);
  });

  it('are known apart from a connection that has the same id after a restart of the kernel', () => {
    const again = aConnection({ start: '2026-05-17T13:00:00.000Z' });
    const history = nextHistory(nextHistory(NO_HISTORY, [aConnection()], at), [again], at);
    expect(history.closed.map(({ start }) => start)).toEqual([START]);
  });

  it('are kept up to a number, the newest first', () => {
    const many = Array.from({ length: MAX_CLOSED + 5 }, (_, index) => aConnection({ id: `m${index}` }));
    const closed = nextHistory(nextHistory(nextHistory(NO_HISTORY, many, at), [aConnection()], at), [], at).closed;
    expect(closed).toHaveLength(MAX_CLOSED);
    expect(closed[0]?.id).toBe('a');
  });
});

describe('the filter of connections', () => {
  const rows = [
    aConnection(),
    aConnection({ id: 'b', host: null, destination_ip: '1.1.1.1', rule: null, rule_payload: null, chains: ['DIRECT'] }),
    aConnection({ id: 'c', host: null, sniff_host: 'Seen.test', source_ip: '192.168.1.9', inbound_name: 'socks' }),
    aConnection({ id: 'd', rule: 'MATCH', rule_payload: '', inbound_user: 'ann' }),
  ];
  const found = (filter: Partial<ConnectionFilter>): string =>
    matchingConnections(rows, { ...NO_FILTER, ...filter } as ConnectionFilter)
      .map(({ id }) => id)
      .join('');

  it.each([
    [{}, 'abcd'],
    [{ search: ' seen ' }, 'c'],
    [{ search: 'ANN' }, 'd'],
    [{ search: '1.1.1' }, 'b'],
    [{ search: 'tokyo' }, 'acd'],
    [{ node: 'DIRECT' }, 'b'],
    [{ node: 'PROXY' }, ''],
    [{ rule: 'none' }, 'b'],
    [{ rule: 'MATCH' }, 'd'],
    [{ rule: 'DOMAIN-SUFFIX,example.com' }, 'ac'],
    [{ source_ip: '192.168.1.9' }, 'c'],
    [{ inbound: 'socks', search: 'tokyo' }, 'c'],
  ])('%j finds %j', (filter, expected) => {
    expect(found(filter)).toBe(expected);
  });

  it('offers what there is, the most frequent first, and what is chosen even where nothing has it', () => {
    expect(choicesOf(rows, 'node', '')).toEqual([
      { value: 'Tokyo', count: 3 },
      { value: 'DIRECT', count: 1 },
    ]);
    expect(choicesOf(rows, 'inbound', 'http')).toContainEqual({ value: 'http', count: 0 });
    expect(rows.map(ruleOf)).toEqual(['DOMAIN-SUFFIX,example.com', 'none', 'DOMAIN-SUFFIX,example.com', 'MATCH']);
  });
});

describe('the order of connections', () => {
  const rows = [
    aConnection({ id: 'b', download: 5, source_ip: '10.0.0.1', source_port: 80 }),
    aConnection({ id: 'a', download: 5, source_ip: '10.0.0.1', source_port: 443 }),
    aConnection({ id: 'c', download: 10, host: 'a.example' }),
  ];
  const order = (by: string): string =>
    sortConnections(rows, by)
      .map(({ id }) => id)
      .join('');

  it.each([
    ['download', 'abc'],
    ['-download', 'cab'],
    ['host', 'cab'],
    ['source', 'bac'],
    ['-traffic', 'cab'],
    ['nonsense', 'abc'],
  ])('%s', (by, expected) => {
    expect(order(by)).toBe(expected);
  });
});
