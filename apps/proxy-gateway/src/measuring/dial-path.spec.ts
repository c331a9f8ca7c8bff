import type { ProxyNode } from '@gatehouse/contracts';
import type { GroupConfig, OutboundConfig } from '@gatehouse/proxy-kernel';
import { describe, expect, it } from 'vitest';
import { DialPaths } from './dial-path.js';

const outbound = (tag: string, dialer?: string): OutboundConfig => ({
  tag,
  node: { type: 'http', name: tag, server: '192.0.2.1', port: 1 } satisfies ProxyNode,
  ...(dialer === undefined ? {} : { dialer }),
});
const group = (name: string, members: string[], selected?: string): GroupConfig => ({
  name,
  type: 'select',
  members,
  ...(selected === undefined ? {} : { selected }),
});
const path = (outbounds: OutboundConfig[], groups: GroupConfig[], dialer?: string, alive: string[] = []) =>
  new DialPaths({ outbounds, groups }, (tag) => alive.includes(tag)).to(dialer)?.map(({ name }) => name) ?? null;

describe('DialPaths', () => {
  const chain = [outbound('n1'), outbound('n2', 'n1'), outbound('n3', 'n2')];

  it('is direct without a dialer', () => {
    expect(path(chain, [])).toEqual([]);
    expect(path(chain, [group('G', ['DIRECT'])], 'G')).toEqual([]);
  });

  it('puts the first hop first', () => {
    expect(path(chain, [], 'n3')).toEqual(['n1', 'n2', 'n3']);
  });

  it('uses the choice of a group, otherwise its first living member, otherwise its first', () => {
    expect(path(chain, [group('G', ['n1', 'n2'], 'n2')], 'G', ['n1'])).toEqual(['n1', 'n2']);
    expect(path(chain, [group('G', ['n3', 'n1'])], 'G', ['n1'])).toEqual(['n1']);
    expect(path(chain, [group('OUT', ['IN']), group('IN', ['n2'])], 'OUT')).toEqual(['n1', 'n2']);
  });

  it('finds no way through dialers that are gone, reject, or form a circle', () => {
    expect(path(chain, [], 'n9')).toBeNull();
    expect(path(chain, [group('G', ['REJECT'])], 'G')).toBeNull();
    expect(path(chain, [group('G', [])], 'G')).toBeNull();
    expect(path(chain, [group('G', ['H']), group('H', ['G'])], 'G')).toBeNull();
    expect(path([outbound('n1', 'n2'), outbound('n2', 'n1')], [], 'n1')).toBeNull();
  });
});
