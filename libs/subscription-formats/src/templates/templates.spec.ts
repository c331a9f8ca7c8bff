import type { TemplateTarget } from '@gatehouse/contracts';
import { describe, expect, it } from 'vitest';
import { parseLink } from '../links/registry.js';
import { parseSubscription } from '../parse-subscription.js';
import { parseProfile } from '../profile/read-profile.js';
import { writeOwnTemplate } from '../targets/write-target.js';
import { readTemplate } from './read-template.js';
import { TemplateFailure, type CompileFilter } from './template.js';

/** Patterns without anything special, as a stand-in for the service's engine. */
const compile: CompileFilter = ({ include, exclude, excludeTypes, readable }) => {
  const fits = ({ all, none, ignoreCase }: (typeof include)[number], name: string): boolean => {
    const occurs = (pattern: string): boolean => new RegExp(pattern, ignoreCase ? 'iu' : 'u').test(name);
    return all.every(occurs) && !none.some(occurs);
  };
  if (!readable) return null;
  return ({ name, type }) =>
    (include.length === 0 || include.some((test) => fits(test, name))) &&
    !exclude.some((test) => fits(test, name)) &&
    !excludeTypes.includes(type);
};

const NODES = ['HK 1', 'HK 2', 'JP 1', 'SG, 1'].map((name, index) => ({
  tag: `n${index}`,
  node: { ...parseLink(`trojan://p@${index}.example:443#x`), name },
}));
const VLESS = parseLink(
  'vless://11111111-2222-4333-8444-555555555555@r.example:443?security=reality&sni=s.example&pbk=jNXHt1yRo0vDuchQlIP6Z0ZvjT3KtzVI-T4E7RoLJS0&fp=chrome#Seoul',
);

function filled(target: TemplateTarget, text: string, nodes = NODES) {
  return writeOwnTemplate(target, readTemplate(target, text, compile), { nodes });
}

function refusal(target: TemplateTarget, text: string): string {
  try {
    readTemplate(target, text, compile);
  } catch (error) {
    if (error instanceof TemplateFailure) return `${error.line ?? '-'}: ${error.message}`;
    throw error;
  }
  return 'taken';
}

const CLASH = `# My own document
mixed-port: 7890
pr: &pr {type: select, include-all: true, hidden: false}
proxies:
- {name: 直连, type: direct}
- name: 'Home, 1'
  type: ss
  server: h.example
  port: 1
  cipher: aes-128-gcm
  password: 0123
proxy-groups:
  - {name: 节点选择, type: select, proxies: [自动, HK, JP 1, Gone, DIRECT]}
  - {name: 自动, <<: *pr, type: url-test, interval: 300, tolerance: 50, exclude-type: direct}
  - name: HK
    type: fallback
    include-all: true
    filter: (?i)hk
    exclude-filter: "2$"
  - {name: US, type: select, include-all: true, filter: US}
rule-providers:
  ads: {type: http, behavior: domain, url: https://r.example/ads.yaml, interval: 86400}
rules:
  # first things first
  - RULE-SET,ads,REJECT
  - AND,((NETWORK,UDP),(DST-PORT,443)),US
  - 'DOMAIN-SUFFIX,cn,直连' # why
  - MATCH,节点选择
`;

describe('a Clash document of one’s own', () => {
  it('gets the nodes behind its own, and groups with their members written out', () => {
    const { text, nodes, remarks } = filled('clash', CLASH);
    expect(nodes).toBe(4);
    expect(text).toContain('# My own document\nmixed-port: 7890\n');
    expect(text).toContain('\n  password: 0123\n');
    const { groups, rules, machineOptions } = parseProfile(text);
    expect(groups.map(({ name, type, proxies }) => [name, type, proxies])).toEqual([
      ['节点选择', 'select', ['自动', 'HK', 'JP 1', 'DIRECT']],
      ['自动', 'url-test', ['Home, 1', 'HK 1', 'HK 2', 'JP 1', 'SG 1']],
      ['HK', 'fallback', ['HK 1']],
      ['US', 'select', ['REJECT']],
    ]);
    expect(groups[1]).toMatchObject({ intervalSec: 300, toleranceMs: 50, includeProxies: false });
    expect(text).toContain('"interval":300,"tolerance":50');
    expect(rules).toHaveLength(4);
    expect(machineOptions).toEqual(['mixed-port']);
    expect(parseSubscription(text).nodes.map(({ node }) => node.name)).toEqual([
      'Home, 1',
      'HK 1',
      'HK 2',
      'JP 1',
      'SG 1',
    ]);
    expect(remarks).toEqual([
      { outcome: 'left_out', reason: 'group_member', field: null, count: 1, examples: ['节点选择: Gone'] },
      { outcome: 'changed', reason: 'group_empty', field: null, count: 1, examples: ['US'] },
    ]);
    expect(text.split('\n')[0]).toBe('# left out: 1 × group_member: 节点选择: Gone');
  });

  it('leaves groups that use providers to the client, and names nodes apart from what it has', () => {
    const text = `proxy-providers: {air: {type: http, url: https://a.example}}
proxy-groups:
- {name: "HK 1", type: select, use: [air], filter: HK, proxies: [DIRECT]}
rules: ["MATCH,HK 1"]
`;
    const written = filled('clash', text);
    expect(written.remarks).toEqual([]);
    const { groups } = parseProfile(written.text);
    expect(groups[0]).toMatchObject({ use: ['air'], proxies: ['DIRECT'], filter: { include: [{ all: ['HK'] }] } });
    expect(parseSubscription(written.text).nodes[0]?.node.name).toBe('HK 1 2');
  });

  it('may be JSON', () => {
    const json = {
      proxies: [],
      'proxy-groups': [{ name: 'A', type: 'select', 'include-all': true }],
      rules: ['MATCH,A'],
    };
    const { text } = filled('clash', JSON.stringify(json));
    expect(JSON.parse(text)['proxy-groups']).toEqual([
      { name: 'A', type: 'select', proxies: ['HK 1', 'HK 2', 'JP 1', 'SG 1'] },
    ]);
  });

  it.each([
    ['proxies:\n  - {name: a', '2: not valid YAML (BAD_INDENT)'],
    ['- a', '-: the document must be a mapping'],
    ['proxies: [{name: a, type: direct}]', '1: proxies must be a list with a dash before each entry, or empty'],
    ['proxies: []\nproxies: []', '2: proxies occurs twice'],
    ['proxies:\n- {type: ss}', '2: a proxy must have a name and a type'],
    ['a: 1\nproxy-groups:\n- {name: a, type: select}', '3: group "a" has neither proxies nor include-all nor use'],
    [
      'proxy-groups:\n- {name: a, type: best, proxies: [DIRECT]}',
      '2: the type of group "a" must be select, url-test, fallback or load-balance',
    ],
    ['proxy-groups:\n- {name: a, type: select, use: [b]}', '2: there is no proxy provider "b"'],
    [
      'proxy-groups:\n- {name: a, type: select, include-all: true, filter: (?<=x)y}',
      '2: the filter of group "a" cannot be used: patterns have no back references, and look-ahead only at their start',
    ],
    [
      'proxy-groups:\n- {name: a, type: select, proxies: [b]}\n- {name: b, type: select, proxies: [a]}',
      '2: group "a" leads back to itself through its members',
    ],
    [
      'proxy-groups:\n- {name: a, type: select, proxies: [DIRECT]}\n- {name: a, type: select, proxies: [DIRECT]}',
      '3: the name "a" occurs twice among groups and nodes',
    ],
    [
      'proxy-groups:\n- {name: DIRECT, type: select, include-all: true}',
      '2: the name "DIRECT" is that of a built-in policy',
    ],
    ['proxies:\nrules:\n- DOMAIN,a.example', '3: a rule must be TYPE,payload,target, or MATCH,target'],
    [
      'rules:\n\n- MATCH,Tokyo',
      '3: the target "Tokyo" is no group of the template; nodes of publications come into rules through groups',
    ],
    ['rules: ["RULE-SET,ads,DIRECT"]', '1: there is no rule provider "ads"'],
    ['rules:\n- SUB-RULE,(NETWORK,tcp),sub', '2: there is no list of sub-rules "sub"'],
    [
      'sub-rules:\n  sub:\n  - MATCH,Tokyo',
      '3: the target "Tokyo" is no group of the template; nodes of publications come into rules through groups',
    ],
    [
      'proxy-groups:\n- &a {name: a, type: select, proxies: [DIRECT]}\nx: *a',
      '1: an anchor in proxy-groups is used elsewhere; define it at the top of the document',
    ],
    [`x: ${'a'.repeat(132_000)}`, '-: besides rules, a template has up to 128 KiB'],
    ['{"proxies": [},', '1: the document is not valid JSON'],
    ['{\n"a": [1,\n', '3: the document is not valid JSON'],
    [
      `a: &a [1,1,1,1,1,1,1,1,1,1]
b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]
c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]
d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]
e: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]`,
      '-: the YAML has too many or unresolved aliases',
    ],
    [`a: ${'['.repeat(20_000)}`, '-: the YAML nests too deep'],
  ])('is refused with the line: %#', (text, message) => {
    expect(refusal('clash', text)).toBe(message);
  });
});

const SING_BOX = `{
  // my own
  "outbounds": [
    { "tag": "Proxy", "type": "selector", "outbounds": ["Auto", "Japan", "US", "{all}", "direct"] },
    { "tag": "Auto", "type": "urltest", "include-all": true, "exclude-filter": "HK", },
    { "tag": "Japan", "type": "selector", "outbounds": ["{all:JP}"], "default": "JP 2" },
    { "tag": "HongKong", "type": "selector", "outbounds": ["{all}"],
      "filter": [{ "action": "include", "keywords": ["HK"] }, { "action": "exclude", "keywords": ["2"] }] },
    { "tag": "US", "type": "selector", "outbounds": ["{all:US}"] },
    { "tag": "direct", "type": "direct" }
  ],
  "route": {
    "rule_set": [{ "tag": "ads", "type": "remote", "url": "https://r.example/ads.srs", "download_detour": "direct" }],
    "rules": [{ "rule_set": "ads", "action": "reject" }, { "domain": ["a.example"], "outbound": "US" }],
    "final": "Proxy",
  },
}`;

describe('a sing-box document of one’s own', () => {
  it('gets the nodes behind its outbounds, and groups with their members written out', () => {
    const { text, remarks } = filled('sing-box', SING_BOX);
    const { outbounds, route } = JSON.parse(text);
    const all = ['HK 1', 'HK 2', 'JP 1', 'SG, 1'];
    expect(outbounds.slice(0, 5)).toEqual([
      { tag: 'Proxy', type: 'selector', outbounds: ['Auto', 'Japan', 'US', ...all, 'direct'] },
      { tag: 'Auto', type: 'urltest', outbounds: ['JP 1', 'SG, 1'] },
      { tag: 'Japan', type: 'selector', outbounds: ['JP 1'] },
      { tag: 'HongKong', type: 'selector', outbounds: ['HK 1'] },
      { tag: 'US', type: 'selector', outbounds: ['REJECT'] },
    ]);
    expect(outbounds.slice(6).map(({ tag }: { tag: string }) => tag)).toEqual([...all, 'REJECT']);
    expect(route.final).toBe('Proxy');
    expect(remarks).toEqual([
      { outcome: 'left_out', reason: 'group_member', field: null, count: 1, examples: ['Japan: JP 2'] },
      { outcome: 'changed', reason: 'group_empty', field: null, count: 1, examples: ['US'] },
    ]);
  });

  it.each([
    ['{\n"outbounds": [\n  {"tag" "a"}]}', '3: the document is not valid JSON'],
    ['{"outbounds": {}}', '-: outbounds must be a list of objects'],
    ['{"outbounds": [{"type": "selector"}]}', '-: a selector or urltest must have a tag'],
    [
      '{"outbounds": [{"type": "selector", "tag": "a"}]}',
      '-: "a" has neither outbounds nor include-all; "{all}" stands for all nodes',
    ],
    [
      '{"outbounds": [{"type": "direct", "tag": "a"}, {"type": "direct", "tag": "a"}]}',
      '-: the name "a" occurs twice among groups and nodes',
    ],
    [
      '{"route": {"final": "x"}}',
      '-: the target "x" is no group of the template; nodes of publications come into rules through groups',
    ],
    [
      '{"dns": {"servers": [{"detour": "x"}]}}',
      '-: the target "x" is no group of the template; nodes of publications come into rules through groups',
    ],
    ['{"route": {"rules": [{"rule_set": ["x"], "action": "reject"}]}}', '-: there is no rule set "x"'],
  ])('is refused: %s', (text, message) => {
    expect(refusal('sing-box', text)).toBe(message);
  });
});

const SURGE = `#!MANAGED-CONFIG https://old.example/ interval=1
[General]
loglevel = notify

[Proxy]
On = direct

[Proxy Group]
Proxy = select, Auto, HK, {all}, Gone, DIRECT
Auto = url-test, include-all-proxies=true, policy-regex-filter=^(?!.*HK).*$, url=http://cp.example/, interval=600
HK = select, "{all:HK (1|2)}", no-alert=1
US = fallback, {all:US}, url=http://cp.example/
Air = select, policy-path=https://air.example/list, policy-regex-filter=x

[Rule]
DOMAIN-SUFFIX,a.example,Proxy // why
AND,((PROTOCOL,UDP),(DEST-PORT,443)),REJECT-NO-DROP
FINAL,Proxy,dns-failed
`;

describe('a document of lines of one’s own', () => {
  it('of Surge gets the nodes at the end of [Proxy], and its groups their members', () => {
    const nodes = [...NODES, { tag: 'n9', node: VLESS }];
    const template = readTemplate('surge', SURGE, compile);
    const update = { url: 'https://new.example/sub', intervalSec: 60 };
    const { text, remarks } = writeOwnTemplate('surge', template, { nodes, update });
    const lines = text.split('\n');
    expect(lines[0]).toBe('#!MANAGED-CONFIG https://new.example/sub interval=60 strict=false');
    expect(text).not.toContain('old.example');
    expect(text).toContain('\nOn = direct\nHK 1 = trojan, 0.example, 443, ');
    expect(lines.filter((line) => / = (?:select|url-test|fallback)/.test(line))).toEqual([
      'Proxy = select, Auto, HK, On, HK 1, HK 2, JP 1, SG 1, DIRECT',
      'Auto = url-test, On, JP 1, SG 1, url=http://cp.example/, interval=600',
      'HK = select, HK 1, HK 2, no-alert=1',
      'US = fallback, REJECT, url=http://cp.example/',
      'Air = select, policy-path=https://air.example/list, policy-regex-filter=x',
    ]);
    expect(text).toContain('\nDOMAIN-SUFFIX,a.example,Proxy // why\n');
    expect(remarks.map(({ reason, examples }) => [reason, examples])).toEqual([
      ['node_type', ['Seoul']],
      ['group_member', ['Proxy: Gone']],
      ['group_empty', ['US']],
    ]);
  });

  it('of Loon keeps members from elsewhere', () => {
    const text = '[Remote Proxy]\nAir = https://air.example\n[Proxy Group]\nA = select,Air,{all}\n[Rule]\nFINAL,A\n';
    expect(filled('loon', text).text).toContain('\nA = select, Air, HK 1, HK 2, JP 1, SG 1\n');
  });

  it('of Quantumult X gets the nodes into [server_local], which is added where it is missing', () => {
    const text = `[policy]
static=Proxy, Auto, {all:JP}, direct
url-latency-benchmark=Auto, server-tag-regex=HK, check-interval=600
available=Remote, resource-tag-regex=air, server-tag-regex=x
[filter_remote]
https://r.example/list, tag=ads, force-policy=reject, enabled=true
[filter_local]
host-suffix, a.example, Auto
final, Proxy
`;
    const written = filled('quantumult-x', text).text;
    expect(written).toContain('\nurl-latency-benchmark=Auto, HK 1, HK 2, check-interval=600\n');
    expect(written).toContain('static=Proxy, Auto, JP 1, direct\n');
    expect(written).toContain('\navailable=Remote, resource-tag-regex=air, server-tag-regex=x\n');
    expect(parseSubscription(written).nodes).toHaveLength(4);
  });

  it.each([
    ['a = b', '-: the document has no section such as [Rule]'],
    ['[Proxy Group]\nA', '2: a group must be a name, an equals sign, and its type with its members'],
    ['[Proxy Group]\nA = select', '2: group "A" has no members; {all} stands for all nodes'],
    ['[Proxy Group]\nA = select, B\nB = select, A', '2: group "A" leads back to itself through its members'],
    ['[Rule]\nDOMAIN,a.example', '2: a rule must be TYPE,value,policy, or FINAL,policy'],
    [
      '[Rule]\nFINAL,Tokyo',
      '2: the target "Tokyo" is no group of the template; nodes of publications come into rules through groups',
    ],
  ])('is refused with the line: %s', (text, message) => {
    expect(refusal('surge', text)).toBe(message);
  });
});

it.each([
  ['sing-box', `"${'\\"'.repeat(250_000)}`, '1: the document is not valid JSON'],
  ['sing-box', '/*'.repeat(250_000), '1: the document is not valid JSON'],
  ['sing-box', `{"a": ${'['.repeat(200_000)}${']'.repeat(200_000)}}`, '-: the document nests too deep'],
  ['surge', `[a${' '.repeat(500_000)}`, '1: the line is longer than 16384 characters'],
  ['surge', `[Rule]\nFINAL,A${' '.repeat(500_000)}x`, '2: the line is longer than 16384 characters'],
  ['clash', `a${' '.repeat(500_000)}`, '-: besides rules, a template has up to 128 KiB'],
  ['clash', `rules:\n- MATCH,A${' '.repeat(500_000)}x`, '2: the line is longer than 16384 characters'],
] as const)('a text made to take long is refused soon: %s %#', (target, text, message) => {
  expect(refusal(target, text)).toBe(message);
});

it('a text that is too long is refused', () => {
  expect(refusal('surge', 'a'.repeat(600_000))).toBe('-: a template has up to 512 KiB');
});
