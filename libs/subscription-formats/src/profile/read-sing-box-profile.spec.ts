import { describe, expect, it } from 'vitest';
import { parseSubscription } from '../parse-subscription.js';

const profileOf = (document: object) => parseSubscription(JSON.stringify(document), { profile: true }).profile!;
const NODE = {
  type: 'trojan',
  tag: 'HK',
  server: 'hk.example',
  server_port: 443,
  password: 'p',
  tls: { enabled: true },
};
const OUTBOUNDS = [
  { type: 'selector', tag: 'Proxy', outbounds: ['Auto', 'HK', 'direct'], default: 'HK' },
  { type: 'urltest', tag: 'Auto', outbounds: ['HK'], url: 'http://cp.example/', interval: '10m', tolerance: 50 },
  NODE,
  { type: 'direct', tag: 'direct' },
  { type: 'block', tag: 'block' },
  { type: 'dns', tag: 'dns-out' },
];
const rulesOf = (...rules: object[]): string[] =>
  profileOf({ outbounds: OUTBOUNDS, route: { rules, final: 'Proxy' } }).rules.slice(0, -1);
const droppedOf = (...rules: object[]): string[] =>
  profileOf({ outbounds: OUTBOUNDS, route: { rules } }).dropped.map(({ reason }) => reason);

describe('a configuration of sing-box', () => {
  it('gives its groups, with the chosen member first, and what stands for built-in policies', () => {
    const { groups, builtIns, rules } = profileOf({ outbounds: OUTBOUNDS, route: {} });
    expect(groups).toMatchObject([
      { name: 'Proxy', type: 'select', proxies: ['HK', 'Auto', 'direct'], testUrl: null, remarks: [] },
      {
        name: 'Auto',
        type: 'url-test',
        proxies: ['HK'],
        testUrl: 'http://cp.example/',
        intervalSec: 600,
        toleranceMs: 50,
      },
    ]);
    expect([...builtIns]).toEqual([
      ['direct', 'DIRECT'],
      ['block', 'REJECT'],
    ]);
    // Without a final outbound it is the first one.
    expect(rules).toEqual(['MATCH,Proxy']);
  });

  it('says options of groups that have no effect here, and groups of one name', () => {
    const { groups, dropped } = profileOf({
      outbounds: [
        { type: 'selector', tag: 'A', outbounds: ['HK'], icon: 'x' },
        { type: 'selector', tag: 'A', outbounds: [] },
        { type: 'selector', outbounds: [] },
        NODE,
      ],
    });
    expect(groups[0]?.remarks).toEqual([{ outcome: 'carried', reason: 'option_ignored' }]);
    expect(dropped.map(({ reason }) => reason)).toEqual(['duplicate_name', 'unreadable']);
  });

  it('is read with comments and a direct outbound that leads elsewhere', () => {
    const text = `{ // own
      "outbounds": [{ "type": "direct", "tag": "d", "override_address": "192.0.2.1" }, ${JSON.stringify(NODE)},],
      "route": { "final": "HK", "auto_detect_interface": true }, "inbounds": [], "log": {} }`;
    const profile = parseSubscription(text, { profile: true }).profile!;
    expect([...profile.builtIns]).toEqual([]);
    expect(profile.rules).toEqual(['MATCH,HK']);
    expect(profile.machineOptions).toEqual(['route.auto_detect_interface', 'inbounds', 'log']);
  });
});

describe('rules of sing-box', () => {
  it('about places alone are a line for each place', () => {
    const rule = {
      domain: 'a.example',
      domain_suffix: ['b.example', '.c.example'],
      domain_keyword: ['word'],
      domain_regex: ['^ads?[0-9]{1,2}\\.'],
      ip_cidr: ['10.0.0.0/8', '2001:db8::1'],
      ip_is_private: true,
      geosite: ['cn'],
      geoip: 'cn',
      outbound: 'Proxy',
    };
    expect(rulesOf(rule)).toEqual([
      'DOMAIN,a.example,Proxy',
      'DOMAIN-SUFFIX,b.example,Proxy',
      'DOMAIN-WILDCARD,*.c.example,Proxy',
      'DOMAIN-KEYWORD,word,Proxy',
      'DOMAIN-REGEX,^ads?[0-9]{1,2}\\.,Proxy',
      'GEOSITE,cn,Proxy',
      'GEOIP,cn,Proxy,no-resolve',
      'IP-CIDR,10.0.0.0/8,Proxy,no-resolve',
      'IP-CIDR6,2001:db8::1/128,Proxy,no-resolve',
      'GEOIP,PRIVATE,Proxy,no-resolve',
    ]);
  });

  it('see addresses of names behind `resolve` only', () => {
    const rule = { ip_cidr: '10.0.0.0/8', action: 'route', outbound: 'direct' };
    expect(rulesOf(rule, { action: 'resolve' }, rule)).toEqual([
      'IP-CIDR,10.0.0.0/8,direct,no-resolve',
      'IP-CIDR,10.0.0.0/8,direct',
    ]);
    const inbounds = [{ type: 'tun', domain_strategy: 'prefer_ipv4' }];
    expect(profileOf({ inbounds, outbounds: OUTBOUNDS, route: { rules: [rule] } }).rules[0]).toBe(
      'IP-CIDR,10.0.0.0/8,direct',
    );
  });

  it('with several kinds of conditions hold where one of each does', () => {
    expect(
      rulesOf({
        domain: ['a.example', 'b.example'],
        port: [80, 443],
        port_range: ['8000:8100', ':99'],
        network: 'tcp',
        outbound: 'HK',
      }),
    ).toEqual(['AND,((OR,((DOMAIN,a.example),(DOMAIN,b.example))),(NETWORK,tcp),(DST-PORT,80/443/8000-8100/1-99)),HK']);
    expect(
      rulesOf({ port: 853, action: 'reject' }, { network: ['udp'], port: [443], action: 'reject', method: 'drop' }),
    ).toEqual(['DST-PORT,853,REJECT', 'AND,((NETWORK,udp),(DST-PORT,443)),REJECT-DROP']);
    expect(rulesOf({ ip_cidr: ['192.0.2.0/24'], source_ip_cidr: ['10.0.0.1'], outbound: 'HK' })).toEqual([
      'AND,((IP-CIDR,192.0.2.0/24,no-resolve),(SRC-IP-CIDR,10.0.0.1/32)),HK',
    ]);
  });

  it('may be inverted, and made of others', () => {
    expect(rulesOf({ domain_suffix: ['a', 'b'], invert: true, outbound: 'HK' })).toEqual([
      'NOT,((OR,((DOMAIN-SUFFIX,a),(DOMAIN-SUFFIX,b)))),HK',
    ]);
    const parts = [{ domain: 'a' }, { port: 1, network: 'udp' }];
    expect(rulesOf({ type: 'logical', mode: 'or', rules: parts, outbound: 'HK' })).toEqual([
      'DOMAIN,a,HK',
      'AND,((NETWORK,udp),(DST-PORT,1)),HK',
    ]);
    expect(
      rulesOf({ type: 'logical', mode: 'and', rules: [parts[0], { ...parts[1], invert: true }], outbound: 'HK' }),
    ).toEqual(['AND,((DOMAIN,a),(NOT,((AND,((NETWORK,udp),(DST-PORT,1)))))),HK']);
  });

  it('with thousands of places and a port are cut into several', () => {
    const domain = Array.from({ length: 1_000 }, (_, index) => `${index}.example`);
    const lines = rulesOf({ domain, port: 443, outbound: 'HK' });
    expect(lines).toHaveLength(5);
    expect(lines.every((line) => line.length < 16_000 && line.endsWith('(DST-PORT,443)),HK'))).toBe(true);
  });

  it('without an equal are left out whole', () => {
    expect(
      droppedOf(
        { protocol: 'quic', action: 'reject' },
        { domain: 'a', wifi_ssid: ['home'], outbound: 'HK' },
        { protocol: 'dns', action: 'hijack-dns' },
        { protocol: 'dns', outbound: 'dns-out' },
        { clash_mode: 'Global', outbound: 'Proxy' },
        { rule_set: 'gone', outbound: 'HK' },
        { domain: 'a' },
        { port_range: 'all', outbound: 'HK' },
        { outbound: 'HK' },
        { ip_is_private: false, outbound: 'HK' },
        { domain: 'a', action: 'resolve' },
      ),
    ).toEqual([
      'condition_unknown',
      'condition_unknown',
      'machine_setting',
      'machine_setting',
      'machine_setting',
      'rule_set_missing',
      'rule_unreadable',
      'rule_unreadable',
      'rule_unreadable',
      'condition_unknown',
      'condition_unknown',
    ]);
    expect(rulesOf({ clash_mode: 'rule', domain: 'a', outbound: 'HK' })).toEqual(['DOMAIN,a,HK']);
  });

  it('name rule sets, which are fetched or written out', () => {
    const { rules, ruleProviders, dropped } = profileOf({
      outbounds: OUTBOUNDS,
      route: {
        rule_set: [
          {
            type: 'remote',
            tag: 'geosite-cn',
            format: 'binary',
            url: 'https://r.example/cn.srs',
            update_interval: '1d',
          },
          { type: 'inline', tag: 'own, list', rules: [{ domain_suffix: ['a'] }, { domain: 'b', port: 1 }] },
          { type: 'local', tag: 'file', path: 'x.srs' },
          { type: 'remote', tag: 'bad', url: 'ftp://r.example' },
        ],
        rules: [
          { rule_set: ['geosite-cn', 'own, list'], outbound: 'direct' },
          { rule_set: 'geosite-cn', network: 'udp', action: 'reject' },
        ],
      },
    });
    expect(rules).toEqual([
      'RULE-SET,geosite-cn,direct,no-resolve',
      'RULE-SET,own- list,direct,no-resolve',
      'AND,((RULE-SET,geosite-cn,no-resolve),(NETWORK,udp)),REJECT',
      'MATCH,Proxy',
    ]);
    expect(ruleProviders).toMatchObject([
      {
        name: 'geosite-cn',
        behavior: 'classical',
        format: 'sing-box',
        intervalSec: 86_400,
        source: { url: 'https://r.example/cn.srs' },
      },
      { name: 'own- list', format: 'text', source: { entries: ['DOMAIN-SUFFIX,a', 'AND,((DOMAIN,b),(DST-PORT,1))'] } },
    ]);
    expect(dropped.map(({ name, reason }) => [name, reason])).toEqual([
      ['file', 'file_elsewhere'],
      ['bad', 'url_unusable'],
    ]);
  });

  it('that sniff make the gateway look at the usual ports', () => {
    const { sniffer } = profileOf({ outbounds: OUTBOUNDS, route: { rules: [{ action: 'sniff' }] } });
    expect(sniffer).toEqual({ ports: [80, 443], otherOptions: ['sniff on other ports'] });
  });
});

describe('name servers of sing-box', () => {
  it('since 1.12 have a type; queries through a proxy are said as such', () => {
    const { dns, hosts, dropped } = profileOf({
      outbounds: OUTBOUNDS,
      dns: {
        servers: [
          { type: 'https', tag: 'far', server: 'dns.example', detour: 'Proxy', domain_resolver: 'near' },
          { type: 'udp', tag: 'near', server: '223.5.5.5' },
          { type: 'tls', tag: 'six', server: '2001:db8::53', server_port: 8853 },
          { type: 'local', tag: 'own' },
          { type: 'fakeip', tag: 'fake' },
          { type: 'hosts', tag: 'fixed', predefined: { 'Nas.example': ['192.0.2.9'], 'alias.example': 'nas.example' } },
        ],
        rules: [
          { domain_suffix: ['cn', '.local.example'], server: 'near' },
          { rule_set: 'geosite-cn', domain: 'a.example', server: 'own' },
          { query_type: ['A'], server: 'fake' },
          { clash_mode: 'Direct', server: 'near' },
          { domain: 'a.example', server: 'six' },
        ],
        final: 'far',
        strategy: 'ipv4_only',
      },
    });
    expect(dns).toEqual({
      nameservers: ['https://dns.example/dns-query#Proxy'],
      bootstrap: ['223.5.5.5'],
      policy: {
        '+.cn': ['223.5.5.5'],
        '.local.example': ['223.5.5.5'],
        'a.example': ['system'],
        'rule-set:geosite-cn': ['system'],
      },
      otherOptions: ['strategy'],
    });
    expect(hosts).toEqual([
      { domain: 'nas.example', values: ['192.0.2.9'] },
      { domain: 'alias.example', values: ['nas.example'] },
    ]);
    expect(dropped.map(({ section, reason }) => [section, reason])).toEqual([
      ['dns', 'condition_unknown'],
      ['dns', 'machine_setting'],
    ]);
  });

  it('before 1.12 are addresses, which are asked through the default outbound', () => {
    const dns = (route: object) =>
      profileOf({
        outbounds: OUTBOUNDS,
        route,
        dns: {
          servers: [
            { tag: 'a', address: 'tls://8.8.8.8' },
            { tag: 'b', address: '223.5.5.5', detour: 'direct' },
          ],
          rules: [
            { outbound: 'any', server: 'b' },
            { domain: 'a.example', server: 'b' },
          ],
        },
      }).dns;
    expect(dns({})).toMatchObject({
      nameservers: ['tls://8.8.8.8#Proxy'],
      policy: { 'a.example': ['223.5.5.5'] },
    });
    expect(dns({ final: 'direct' })).toMatchObject({ nameservers: ['tls://8.8.8.8'] });
  });
});
