import type { ProxyNode } from '@gatehouse/contracts';
import { describe, expect, it } from 'vitest';
import { parseLink } from '../links/registry.js';
import { parseSubscription } from '../parse-subscription.js';
import { parseProfile } from '../profile/read-profile.js';
import type { TargetInput } from './target.js';
import { writeTarget } from './write-target.js';

const node = (tag: string, link: string) => ({ tag, node: parseLink(link) });
const REALITY = 'security=reality&sni=s.example&pbk=jNXHt1yRo0vDuchQlIP6Z0ZvjT3KtzVI-T4E7RoLJS0&fp=chrome';
const UUID = '11111111-2222-4333-8444-555555555555';

const INPUT: TargetInput = {
  nodes: [
    node('n1', 'trojan://p@one.example:443#🇯🇵 Tokyo, 1'),
    node('n2', 'trojan://q@two.example:443#🇯🇵 Tokyo, 1'),
    node('n3', `vless://${UUID}@three.example:443?${REALITY}#Seoul`),
    { ...node('n4', 'ss://YWVzLTEyOC1nY206cHc@four.example:1#Inner'), dialer: 'n3' },
  ],
  groups: [
    { name: 'PROXY', type: 'select', members: ['AUTO', 'n1', 'n2', 'n3', 'n4', 'DIRECT'] },
    { name: 'AUTO', type: 'url-test', members: ['n1', 'n2'], intervalSec: 300, toleranceMs: 50 },
    { name: 'SEOUL', type: 'fallback', members: ['n3'] },
  ],
  rules: [
    { type: 'DOMAIN-SUFFIX', payload: 'blocked.example', target: 'REJECT' },
    { type: 'DOMAIN', payload: 'seoul.example', target: 'SEOUL' },
    { type: 'DST-PORT', payload: '22,2200-2300', target: 'n1' },
    { type: 'RULE-SET', payload: 'ads', target: 'REJECT' },
    { type: 'IP-CIDR', payload: '10.0.0.0/8', target: 'DIRECT', noResolve: true },
    { type: 'DOMAIN', payload: 'gone.example', target: 'n99' },
  ],
  final: 'PROXY',
};
const parsed = (text: string): ProxyNode[] => parseSubscription(text).nodes.map(({ node: found }) => found);

describe('a Clash document', () => {
  const { text, nodes, remarks } = writeTarget('clash', INPUT);

  it('has every node, each under a name of its own, and chains by those names', () => {
    expect(nodes).toBe(4);
    expect(parsed(text).map(({ name, dialerProxy }) => [name, dialerProxy])).toEqual([
      ['🇯🇵 Tokyo 1', undefined],
      ['🇯🇵 Tokyo 1 2', undefined],
      ['Seoul', undefined],
      ['Inner', 'Seoul'],
    ]);
  });

  it('has groups and rules that name what is in it', () => {
    expect(parseProfile(text)).toMatchObject({
      groups: [
        {
          name: 'PROXY',
          type: 'select',
          proxies: ['AUTO', '🇯🇵 Tokyo 1', '🇯🇵 Tokyo 1 2', 'Seoul', 'Inner', 'DIRECT'],
        },
        { name: 'AUTO', type: 'url-test', intervalSec: 300, toleranceMs: 50 },
        { name: 'SEOUL', type: 'fallback' },
      ],
      rules: [
        'DOMAIN-SUFFIX,blocked.example,REJECT',
        'DOMAIN,seoul.example,SEOUL',
        'DST-PORT,22/2200-2300,🇯🇵 Tokyo 1',
        'IP-CIDR,10.0.0.0/8,DIRECT,no-resolve',
        'MATCH,PROXY',
        'MATCH,REJECT',
      ],
    });
  });

  it('says what it leaves out, in comments', () => {
    expect(remarks).toEqual([
      { outcome: 'left_out', reason: 'rule_set', field: 'ads', count: 1, examples: ['RULE-SET,ads,REJECT'] },
      { outcome: 'left_out', reason: 'rule_target', field: null, count: 1, examples: ['DOMAIN,gone.example,n99'] },
    ]);
    expect(text).toMatch(/^# left out: 1 × rule_set ads: RULE-SET,ads,REJECT$/m);
  });
});

describe('a list of rules', () => {
  const sets = { name: 'ads', behavior: 'domain' as const, entries: ['+.ads.example'] };

  it('has the sets that its rules name, where the format has sets', () => {
    const { text, remarks } = writeTarget('clash', { ...INPUT, ruleSets: [sets, { ...sets, name: 'unused' }] });
    expect(parseProfile(text)).toMatchObject({
      ruleProviders: [{ name: 'ads', behavior: 'domain', source: { entries: ['+.ads.example'] } }],
      rules: expect.arrayContaining(['RULE-SET,ads,REJECT']),
    });
    expect(remarks.map(({ reason }) => reason)).toEqual(['rule_target']);
  });

  it('ends with the rule for everything', () => {
    const rules = [INPUT.rules[0]!, { type: 'MATCH', payload: '', target: 'SEOUL' }, INPUT.rules[1]!];
    const { text } = writeTarget('surge', { ...INPUT, rules });
    expect(text.split('[Rule]\n')[1]).toBe('DOMAIN-SUFFIX,blocked.example,REJECT\nFINAL,SEOUL\n');
  });
});

describe('a document of a client that lacks a node', () => {
  it('of Surge leaves out what is dialled through it, and rejects in place of its group', () => {
    const { text, nodes, remarks } = writeTarget('surge', INPUT);
    expect(nodes).toBe(2);
    expect(text).toContain('\nSEOUL = fallback, REJECT, url=');
    expect(text).toContain('\nDOMAIN,seoul.example,SEOUL\n');
    expect(text).toContain('\nPROXY = select, AUTO, 🇯🇵 Tokyo 1, 🇯🇵 Tokyo 1 2, DIRECT\n');
    expect(text).toContain('\nFINAL,PROXY\n');
    expect(remarks).toEqual(
      expect.arrayContaining([
        { outcome: 'left_out', reason: 'node_type', field: 'vless', count: 1, examples: ['Seoul'] },
        { outcome: 'left_out', reason: 'node_dialer', field: null, count: 1, examples: ['Inner'] },
        { outcome: 'changed', reason: 'group_empty', field: null, count: 1, examples: ['SEOUL'] },
      ]),
    );
  });

  it.each(['surge', 'loon', 'quantumult-x'] as const)('of %s reads back as the nodes that it has', (target) => {
    const { text, nodes } = writeTarget(target, INPUT);
    const back = parsed(text);
    expect(back).toHaveLength(nodes);
    expect(back[0]).toMatchObject({ type: 'trojan', server: 'one.example', password: 'p', name: '🇯🇵 Tokyo 1' });
  });

  it('of Quantumult X has its own words', () => {
    const { text } = writeTarget('quantumult-x', INPUT);
    expect(text).toContain(
      '\nurl-latency-benchmark=AUTO, 🇯🇵 Tokyo 1, 🇯🇵 Tokyo 1 2, check-interval=300, tolerance=50\n',
    );
    expect(text).toContain('\nhost-suffix, blocked.example, reject\n');
    expect(text).toContain('\nip-cidr, 10.0.0.0/8, direct, no-resolve\n');
    expect(text).toContain('\nfinal, PROXY 2\n');
  });
});

describe('a sing-box document', () => {
  const { text, remarks } = writeTarget('sing-box', INPUT);
  const document = JSON.parse(text);

  it('has groups as selectors and tests, and rules with actions', () => {
    expect(document.outbounds.slice(0, 3)).toEqual([
      {
        type: 'selector',
        tag: 'PROXY',
        outbounds: ['AUTO', '🇯🇵 Tokyo, 1', '🇯🇵 Tokyo, 1 2', 'Seoul', 'Inner', 'direct'],
      },
      expect.objectContaining({ type: 'urltest', tag: 'AUTO', interval: '300s', tolerance: 50 }),
      expect.objectContaining({ type: 'urltest', tag: 'SEOUL', outbounds: ['Seoul'] }),
    ]);
    expect(document.route.final).toBe('PROXY');
    expect(document.route.rules).toEqual([
      { action: 'sniff' },
      { protocol: 'dns', action: 'hijack-dns' },
      { domain_suffix: ['blocked.example'], action: 'reject' },
      { domain: ['seoul.example'], outbound: 'SEOUL' },
      { port: [22], port_range: ['2200:2300'], outbound: '🇯🇵 Tokyo, 1' },
      { ip_cidr: ['10.0.0.0/8'], outbound: 'direct' },
    ]);
    expect(remarks).toContainEqual(
      expect.objectContaining({ outcome: 'changed', reason: 'group_type', field: 'fallback' }),
    );
  });

  it('rejects in place of a group that has nothing left', () => {
    const only = { ...INPUT, nodes: [], groups: [INPUT.groups[2]!], final: 'SEOUL' };
    const { route, outbounds } = JSON.parse(writeTarget('sing-box', only).text);
    expect(outbounds).toEqual([{ type: 'direct', tag: 'direct' }]);
    expect(route.rules).toContainEqual({ domain: ['seoul.example'], action: 'reject' });
    expect(route.rules.at(-1)).toEqual({ network: ['tcp', 'udp'], action: 'reject' });
  });
});

describe('lists of nodes alone', () => {
  const alone = { ...INPUT, final: null };

  it.each(['clash', 'sing-box', 'surge', 'loon', 'quantumult-x', 'base64', 'links'] as const)('as %s', (target) => {
    const { text, nodes } = writeTarget(target, alone);
    expect(parsed(text)).toHaveLength(nodes);
    expect(nodes).toBeGreaterThan(1);
    expect(text).not.toContain('AUTO');
  });

  it('base64 is that of the links, and keeps names that occur twice', () => {
    const links = writeTarget('links', alone).text;
    expect(Buffer.from(writeTarget('base64', alone).text, 'base64').toString()).toBe(links);
    expect(parsed(links).map(({ name }) => name)).toEqual(['🇯🇵 Tokyo, 1', '🇯🇵 Tokyo, 1', 'Seoul', 'Inner']);
  });
});

it('a name of several lines becomes neither an entry nor a rule', () => {
  const bad = parseLink('trojan://p@one.example:443#a');
  const name = 'x\n[Rule]\nFINAL,DIRECT';
  const { text } = writeTarget('surge', { ...INPUT, nodes: [{ tag: 'n1', node: { ...bad, name } }] });
  expect(text.split('\n').filter((line) => line.startsWith('FINAL'))).toEqual(['FINAL,PROXY']);
});
