import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSubscription } from '../parse-subscription.js';
import { parseProfile } from './read-profile.js';

const PROFILE = `
mixed-port: 7890
dns:
  enable: true
  enhanced-mode: fake-ip
  default-nameserver: [223.5.5.5]
  nameserver:
    - https://doh.pub/dns-query
    - tls://dot.pub
  nameserver-policy:
    '+.lan.example,+.home.example': 192.0.2.53
    'geosite:cn,private': [223.5.5.5]
hosts:
  'router.example': 192.0.2.1
  '*.pair.example': [192.0.2.2, 192.0.2.3]
sniffer:
  enable: true
  sniff:
    HTTP: {ports: [80, 8080-8082]}
    TLS:
    QUIC: {ports: [443]}
common: &common {type: select, proxies: [♻️ 自动选择, DIRECT]}
proxies:
  - {name: "🇭🇰 香港 01", type: ss, server: 192.0.2.1, port: 8388, cipher: aes-128-gcm, password: a}
proxy-providers:
  airport:
    type: http
    url: https://airport.example/clash
    interval: 1h30m
    filter: '(?i)hk|香港'
    header: {User-Agent: [clash.meta]}
    override: {additional-prefix: "[a]"}
  local: {type: file, path: ./a.yaml}
proxy-groups:
  - {name: 🚀 节点选择, <<: *common}
  - name: ♻️ 自动选择
    type: url-test
    use: [airport]
    include-all-proxies: true
    exclude-filter: "官网\`套餐"
    exclude-type: Shadowsocks|Http
    url: https://www.gstatic.com/generate_204
    interval: 300
    tolerance: 50
    disable-udp: true
  - {name: ♻️ 自动选择, type: select, proxies: [DIRECT]}
  - {type: select}
rule-providers:
  reject: {type: http, behavior: domain, format: mrs, url: https://rules.example/reject.mrs, interval: 86400}
  mine: {type: inline, behavior: classical, payload: ['DOMAIN,a.example']}
  broken: {type: http, behavior: classical, format: mrs, url: https://rules.example/x.mrs}
sub-rules:
  udp: ['DOMAIN-SUFFIX,a.example,DIRECT', 'MATCH,🚀 节点选择']
rules:
  - RULE-SET,reject,REJECT
  - SUB-RULE,(NETWORK,udp),udp
  - MATCH,🚀 节点选择
`;

describe('a profile', () => {
  const profile = parseProfile(PROFILE);

  it('gives its groups, with anchors resolved', () => {
    expect(profile.groups.map(({ name, type, proxies }) => [name, type, proxies])).toEqual([
      ['🚀 节点选择', 'select', ['♻️ 自动选择', 'DIRECT']],
      ['♻️ 自动选择', 'url-test', []],
    ]);
    expect(profile.groups[1]).toMatchObject({
      use: ['airport'],
      includeProxies: true,
      includeProviders: false,
      filter: { include: [], exclude: [{ all: ['官网'] }, { all: ['套餐'] }], excludeTypes: ['ss', 'http'] },
      intervalSec: 300,
      toleranceMs: 50,
      remarks: [{ outcome: 'carried', reason: 'option_ignored' }],
    });
  });

  it('gives its providers', () => {
    expect(profile.proxyProviders).toMatchObject([
      { name: 'airport', url: 'https://airport.example/clash', intervalSec: 5_400, userAgent: 'clash.meta' },
    ]);
    expect(profile.proxyProviders[0]?.filter.include).toEqual([{ all: ['hk|香港'], none: [], ignoreCase: true }]);
    expect(profile.ruleProviders).toMatchObject([
      { name: 'reject', behavior: 'domain', format: 'mrs', source: { url: 'https://rules.example/reject.mrs' } },
      { name: 'mine', source: { entries: ['DOMAIN,a.example'] } },
    ]);
  });

  it('gives its rules, name servers, hosts and ports', () => {
    expect(profile.rules).toHaveLength(3);
    expect(profile.subRules).toEqual([{ name: 'udp', lines: ['DOMAIN-SUFFIX,a.example,DIRECT', 'MATCH,🚀 节点选择'] }]);
    expect(profile.dns).toEqual({
      nameservers: ['https://doh.pub/dns-query', 'tls://dot.pub'],
      bootstrap: ['223.5.5.5'],
      policy: {
        '+.lan.example': ['192.0.2.53'],
        '+.home.example': ['192.0.2.53'],
        'geosite:cn,private': ['223.5.5.5'],
      },
      otherOptions: ['enhanced-mode'],
    });
    expect(profile.hosts).toEqual([
      { domain: 'router.example', values: ['192.0.2.1'] },
      { domain: '*.pair.example', values: ['192.0.2.2', '192.0.2.3'] },
    ]);
    expect(profile.sniffer).toEqual({ ports: [80, 443, 8080, 8081, 8082], otherOptions: ['sniff.QUIC'] });
    expect(profile.machineOptions).toEqual(['mixed-port']);
  });

  it('says what it had to drop, and why', () => {
    expect(profile.dropped.map(({ section, name, reason }) => [section, name, reason])).toEqual([
      ['groups', '♻️ 自动选择', 'duplicate_name'],
      ['groups', '#4', 'unreadable'],
      ['proxy_providers', 'local', 'file_elsewhere'],
      ['rule_providers', 'broken', 'mrs_classical'],
    ]);
  });
});

it('loses only the section that cannot be read', () => {
  const profile = parseProfile('proxies: []\nproxy-groups: [}\nhosts: {a.example: 192.0.2.1}\n');
  expect(profile.hosts).toHaveLength(1);
  expect(profile.dropped).toEqual([
    { section: 'groups', name: 'proxy-groups', outcome: 'left_out', reason: 'unreadable' },
  ]);
});

it('is read from JSON as well', () => {
  const text = '{"proxies":[],"proxy-groups":[{"name":"a","type":"select","proxies":["DIRECT"],"interval":300}]}';
  expect(parseProfile(text).groups).toMatchObject([{ name: 'a', proxies: ['DIRECT'], intervalSec: 300 }]);
});

it('may have providers in place of nodes', () => {
  const text =
    'proxy-providers:\n  a: {url: https://a.example}\nproxy-groups:\n  - {name: g, type: select, use: [a]}\n';
  const read = parseSubscription(text, { profile: true });
  expect(read).toMatchObject({ format: 'clash', nodes: [], profile: { proxyProviders: [{ name: 'a' }] } });
  expect(read.error).toBeUndefined();
  expect(parseSubscription(text).error?.code).toBe('no_entries');
});

it('takes any text without failing, and counts every group once', () => {
  const name = fc.oneof(fc.string({ maxLength: 8 }), fc.constantFrom('a', 'b', '__proto__', 'constructor'));
  const value = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null), fc.array(fc.string()));
  const group = fc.dictionary(fc.oneof(fc.constantFrom('name', 'type', 'proxies', 'filter', 'use'), name), value);
  fc.assert(
    fc.property(fc.array(fc.oneof(group, value)), fc.dictionary(name, fc.oneof(group, value)), (groups, map) => {
      const text = JSON.stringify({
        proxies: [],
        'proxy-groups': groups,
        'proxy-providers': map,
        'rule-providers': map,
        'sub-rules': map,
        hosts: map,
        dns: map,
        sniffer: map,
      });
      const profile = parseProfile(text);
      const dropped = profile.dropped.filter(({ section }) => section === 'groups').length;
      return profile.groups.length + dropped === groups.length;
    }),
  );
  fc.assert(fc.property(fc.string(), (text) => parseProfile(`proxies:\n${text}`) !== null));
});
