import { describe, expect, it } from 'vitest';
import { registrablePart, suggestRules } from './rule-suggestions.js';

const CONNECTION = {
  host: 'www.example.co.uk',
  sniff_host: null,
  destination_ip: null,
  remote_destination: '198.51.100.7',
  node_id: 7,
  destination_port: 443,
  source_ip: '192.168.1.20',
};

const lines = (overrides: Partial<typeof CONNECTION> | { destination_ip: string }): string[] =>
  suggestRules({ ...CONNECTION, ...overrides }).map(({ type, payload, no_resolve }) =>
    [type, payload, ...(no_resolve ? ['no-resolve'] : [])].join(','),
  );

describe('rules from a connection', () => {
  it('match its domain, its client and its port, but not the address of the node', () => {
    expect(lines({})).toEqual([
      'DOMAIN-SUFFIX,example.co.uk',
      'DOMAIN,www.example.co.uk',
      'SRC-IP-CIDR,192.168.1.20/32',
      'DST-PORT,443',
    ]);
  });

  it('match its address where that is known', () => {
    expect(lines({ destination_ip: '203.0.113.9' })).toContain('IP-CIDR,203.0.113.9/32,no-resolve');
    expect(lines({ host: '2001:db8::1' })).toEqual([
      'IP-CIDR6,2001:db8::1/128,no-resolve',
      'SRC-IP-CIDR,192.168.1.20/32',
      'DST-PORT,443',
    ]);
    expect(suggestRules({ ...CONNECTION, node_id: null })[2]).toEqual({
      type: 'IP-CIDR',
      payload: '198.51.100.7/32',
      no_resolve: true,
    });
  });

  it('match the host that was seen in the traffic of an address', () => {
    expect(suggestRules({ ...CONNECTION, host: '203.0.113.9', sniff_host: 'cdn.example.net' })[0]).toMatchObject({
      type: 'DOMAIN-SUFFIX',
      payload: 'example.net',
    });
  });

  it.each([
    ['a.b.example.com', 'example.com'],
    ['WWW.Example.COM.', 'example.com'],
    ['mirrors.tuna.tsinghua.edu.cn', 'tsinghua.edu.cn'],
    ['news.bbc.co.uk', 'bbc.co.uk'],
    ['co.uk', 'co.uk'],
    ['example.de', 'example.de'],
    ['router', null],
  ])('take %s as part of %s', (name, expected) => {
    expect(registrablePart(name)).toBe(expected);
  });
});
