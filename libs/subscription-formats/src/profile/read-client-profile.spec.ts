import { describe, expect, it } from 'vitest';
import { parseSubscription } from '../parse-subscription.js';

const profileOf = (text: string) => parseSubscription(text, { profile: true }).profile!;

describe('a configuration of Surge or Loon', () => {
  const profile = profileOf(`[General]
dns-server = 223.5.5.5, system
loglevel = notify
[Proxy]
On = direct
HK = ss, hk.example, 1, encrypt-method=aes-128-gcm, password=p
[Remote Proxy]
Air = https://air.example/list,udp=true
[Remote Filter]
Named = NameKeyword, FilterKey = "a+b"
[Proxy Group]
Pick = select, HK, On, Named, interval=5
Auto = url-test, Air, url=http://cp.example/, interval = 600, tolerance=50
Regex = select, policy-regex-filter=^(?!.*x), policy-path=https://air.example/more
[Rule]
DOMAIN-SUFFIX,a.example,Pick,extended-matching // why
RULE-SET,https://lists.example/Some.list,Auto,no-resolve
DOMAIN-SET,https://lists.example/Some.txt,REJECT
AND,((PROTOCOL,UDP),(DEST-PORT,443)),REJECT-NO-DROP,pre-matching
SRC-IP,192.168.1.9,On
FINAL,Pick,dns-failed
[Remote Rule]
https://lists.example/Off.list, policy=Pick, enabled=false
https://lists.example/On.list, policy=Pick, tag=Tagged
[Host]
*.dev = 192.0.2.1
office.example = server:192.0.2.53
[MITM]
hostname = a
`);

  it('gives its groups with the lists of nodes and filters that they name', () => {
    const [pick, auto, regex] = profile.groups;
    expect(pick).toMatchObject({ type: 'select', proxies: ['HK', 'On'], use: [], includeProviders: true });
    expect(pick?.filter.include).toEqual([{ all: ['a\\+b'], none: [], ignoreCase: false }]);
    expect(auto).toMatchObject({ type: 'url-test', proxies: [], use: ['Air'], intervalSec: 600, toleranceMs: 50 });
    expect(auto).toMatchObject({ testUrl: 'http://cp.example/', includeProxies: false });
    expect(regex).toMatchObject({ use: ['Regex (policy-path)'], filter: { include: [{ none: ['x'] }] } });
    expect(profile.proxyProviders.map(({ name, url }) => [name, url])).toEqual([
      ['Air', 'https://air.example/list'],
      ['Regex (policy-path)', 'https://air.example/more'],
    ]);
    expect(profile.builtIns).toEqual(new Map([['On', 'DIRECT']]));
  });

  it("gives its rules in Clash's words, the last one behind those of lists", () => {
    expect(profile.rules).toEqual([
      'DOMAIN-SUFFIX,a.example,Pick',
      'RULE-SET,Some,Auto,no-resolve',
      'RULE-SET,Some 2,REJECT',
      'AND,((NETWORK,UDP),(DST-PORT,443)),REJECT-NO-DROP',
      'SRC-IP-CIDR,192.168.1.9/32,On',
      'RULE-SET,Tagged,Pick',
      'MATCH,Pick',
    ]);
    expect(profile.ruleProviders.map(({ name, behavior, format }) => [name, behavior, format])).toEqual([
      ['Some', 'classical', 'text'],
      ['Some 2', 'domain', 'domain-set'],
      ['Tagged', 'classical', 'text'],
    ]);
  });

  it('gives its hosts and name servers', () => {
    expect(profile.hosts).toEqual([{ domain: '.dev', values: ['192.0.2.1'] }]);
    expect(profile.dns).toMatchObject({
      nameservers: ['223.5.5.5', 'system'],
      policy: { 'office.example': ['192.0.2.53'] },
    });
    expect(profile.machineOptions).toEqual(['loglevel', '[mitm]']);
  });
});

it('a configuration of Quantumult X gives its policies and filters', () => {
  const profile = profileOf(`[policy]
static=Pick, HK, direct, img-url=https://icons.example/i.png
url-latency-benchmark=Auto, server-tag-regex=(?i)hk, check-interval=600
round-robin=Spread, HK
[server_local]
trojan=hk.example:443, password=p, over-tls=true, tag=HK
[server_remote]
https://air.example/qx, tag=Air
[filter_local]
host-suffix, a.example, Pick
final, Pick
ip-cidr, 10.0.0.0/8, direct, no-resolve
[filter_remote]
https://lists.example/T.list, tag=T, force-policy=Auto
https://lists.example/N.list
[dns]
address=/nas.example/192.0.2.1
`);
  expect(profile.groups.map(({ name, type, proxies }) => [name, type, proxies])).toEqual([
    ['Pick', 'select', ['HK', 'direct']],
    ['Auto', 'url-test', []],
    ['Spread', 'load-balance', ['HK']],
  ]);
  expect(profile.groups[1]).toMatchObject({ includeProxies: true, includeProviders: true, intervalSec: 600 });
  expect(profile.rules).toEqual([
    'DOMAIN-SUFFIX,a.example,Pick',
    'ip-cidr,10.0.0.0/8,direct,no-resolve',
    'RULE-SET,T,Auto',
    'MATCH,Pick',
  ]);
  expect(profile.hosts).toEqual([{ domain: 'nas.example', values: ['192.0.2.1'] }]);
  expect(profile.dropped).toMatchObject([{ section: 'rules', reason: 'rule_unreadable' }]);
});
