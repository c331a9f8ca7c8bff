/** Compares the compiled router with the simplest evaluation of the rules: one matcher after another, in order. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPolicyTable } from '../group/index.js';
import type { RuleConfig, RuleSetConfig } from '../interfaces/config.js';
import type { ConnectionMetadata } from '../interfaces/connection.js';
import { DialError } from '../interfaces/outbound.js';
import type { PolicyTable } from '../interfaces/route.js';
import { compileRouter } from './compile-router.js';
import { parseCondition, splitConditions } from './rule/condition-text.js';
import { createMatcher } from './rule/create-matcher.js';
import type { RuleCondition } from './rule/rule-type.js';
import { compileRuleSets } from './rule-set/rule-sets.js';

const COUNTRIES: Record<string, string> = { '1.2.3.4': 'CN', '10.1.2.3': 'DE', '2001:db8::1': 'CN', '8.8.8.8': 'US' };
const country = (ip: string) => COUNTRIES[ip] ?? null;

const asn = (ip: string) => (country(ip) === 'CN' ? 13_335 : null);

type Answer = boolean | 'needs-ip';

function any(answers: Answer[]): Answer {
  if (answers.includes(true)) return true;
  return answers.includes('needs-ip') ? 'needs-ip' : false;
}

const not = (answer: Answer): Answer => (answer === 'needs-ip' ? answer : !answer);

/** Clash wildcards, written out. */
function domainEntryMatches(entry: string, name: string | null): boolean {
  if (name === null) return false;
  const text = entry.replaceAll('.', '\\.').replaceAll('*', '[^.]+');
  if (entry.startsWith('+.')) return new RegExp(`^(.+\\.)?${text.slice(3)}$`).test(name);
  return new RegExp(entry.startsWith('.') ? `^.+${text}$` : `^${text}$`).test(name);
}

/** A flow, and how to get the address of its name; without that nothing is resolved. */
interface World {
  seen: ConnectionMetadata;
  ask: (() => string) | null;
}

/** Whether the rule names a set that does not exist. */
function isMissing({ type, payload }: RuleCondition, sets: readonly RuleSetConfig[]): boolean {
  if (isLogic(type)) return splitConditions(payload).some((text) => isMissing(parseCondition(text), sets));
  return (type === 'RULE-SET' || type === 'GEOSITE') && setOf(type, payload, sets) === undefined;
}

function setOf(type: string, payload: string, sets: readonly RuleSetConfig[]): RuleSetConfig | undefined {
  return sets.find(({ name }) => name === (type === 'GEOSITE' ? `geosite:${payload}` : payload));
}

const isLogic = (type: string): boolean => type === 'AND' || type === 'OR' || type === 'NOT';

/**
 * Each entry of a set and each condition of a rule on its own, in their order. The first one that needs the address asks
 * for it, unless a later alternative holds without it.
 */
function answerOf(rule: RuleCondition, world: World, sets: readonly RuleSetConfig[]): Answer {
  const { type, payload, noResolve } = rule;
  const asking = noResolve ? { seen: world.seen, ask: null } : world;
  if (isLogic(type)) {
    const parts = splitConditions(payload).map(parseCondition);
    const answer = logicAnswer(type, parts, asking, sets);
    return noResolve && answer === 'needs-ip' ? false : answer;
  }
  if (type === 'RULE-SET' || type === 'GEOSITE') return setAnswer(rule, world, sets);
  const matcher = createMatcher(rule, { country, asn, sets: { get: () => null } });
  const answer = matcher.matches(world.seen);
  if (answer !== 'needs-ip' || world.ask === null) return answer;
  world.seen.destinationIp = world.ask();
  return matcher.matches(world.seen);
}

function logicAnswer(type: string, parts: RuleCondition[], world: World, sets: readonly RuleSetConfig[]): Answer {
  if (type === 'NOT') return not(answerOf(parts[0]!, world, sets));
  if (type === 'OR') return anyInOrder(parts, world, (part, seen) => answerOf(part, seen, sets));
  for (const part of parts) {
    const answer = answerOf(part, world, sets);
    if (answer !== true) return answer;
  }
  return true;
}

function anyInOrder<T>(parts: readonly T[], world: World, answer: (part: T, world: World) => Answer): Answer {
  const silent = any(parts.map((part) => answer(part, { seen: { ...world.seen }, ask: null })));
  if (silent !== 'needs-ip' || world.ask === null) return silent;
  return parts.some((part) => answer(part, world) === true);
}

function setAnswer(
  { type, payload, noResolve, src }: RuleCondition,
  world: World,
  sets: readonly RuleSetConfig[],
): Answer {
  const set = setOf(type, payload, sets)!;
  const quiet = noResolve === true || src === true;
  const found = anyInOrder(set.entries, quiet ? { seen: world.seen, ask: null } : world, (entry, seen) => {
    if (set.behavior === 'domain') return domainEntryMatches(entry, seen.seen.host);
    const one = set.behavior === 'ipcidr' ? { type: 'IP-CIDR' as const, payload: entry } : parseCondition(entry);
    const options = { noResolve: one.noResolve === true || quiet, src: one.src === true || src === true };
    return answerOf({ ...one, ...options }, seen, []);
  });
  return quiet && found === 'needs-ip' ? false : found;
}

interface Naive {
  index: number;
  resolvedIps: string[];
  asked: number;
}

async function naive(
  rules: readonly RuleConfig[],
  flow: ConnectionMetadata,
  policies: PolicyTable,
  sets: readonly RuleSetConfig[],
  dns: () => string[] | null,
): Promise<Naive> {
  let asked = 0;
  let resolvedIps: string[] = [];
  const ask = (): string => {
    asked++;
    resolvedIps = dns() ?? [];
    return resolvedIps.find((ip) => !ip.includes(':')) ?? resolvedIps[0] ?? '';
  };
  const world: World = { seen: { ...flow }, ask };
  for (const [index, rule] of rules.entries()) {
    if (!policies.has(rule.target) || isMissing(rule, sets)) continue;
    if (answerOf(rule, world, sets) !== true) continue;
    if (policies.chain(rule.target).at(-1) === 'PASS') continue;
    if (flow.network === 'udp' && !policies.supportsUdp(rule.target)) continue;
    return { index, resolvedIps, asked };
  }
  return { index: -1, resolvedIps, asked };
}

const LABELS = ['a', 'b', 'ads', 'example', 'com', 'net', 'co'];
const host = fc.array(fc.constantFrom(...LABELS), { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'));
const v4 = fc.constantFrom('1.2.3.4', '10.1.2.3', '8.8.8.8', '10.1.2.4', '255.255.255.255', '0.0.0.0', '192.168.0.7');
const v6 = fc.constantFrom(
  '2001:db8::1',
  'fe80::1',
  '::1',
  'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
  '2001:db8:8000::1',
);
const address = fc.oneof(
  v4,
  v6,
  v4.map((ip) => `::ffff:${ip}`),
  fc.ipV4(),
  fc.ipV6(),
);
const cidr = fc.oneof(
  fc.tuple(v4, fc.integer({ min: 0, max: 32 })).map(([ip, bits]) => `${ip}/${bits}`),
  fc.tuple(v6, fc.integer({ min: 0, max: 128 })).map(([ip, bits]) => `${ip}/${bits}`),
);
const setName = fc.constantFrom('s0', 's1', 's2', 'gone');
const simple = fc.oneof(
  host.map((name) => `DOMAIN-SUFFIX,${name}`),
  host.map((name) => `DOMAIN,${name}`),
  cidr.map((text) => `IP-CIDR,${text}`),
  cidr.map((text) => `IP-CIDR,${text},no-resolve`),
  cidr.map((text) => `SRC-IP-CIDR,${text}`),
  fc.constantFrom('GEOIP,CN', 'GEOIP,LAN,no-resolve', 'SRC-GEOIP,DE', 'IP-ASN,13335', 'IP-SUFFIX,0.0.0.4/3,no-resolve'),
  fc.constantFrom(
    'NETWORK,udp',
    'DST-PORT,443/8500',
    'DOMAIN-KEYWORD,ple.c',
    'DOMAIN-REGEX,^(ads|a)\\.',
    'IN-TYPE,HTTP',
  ),
);
const nested = fc.letrec((tie) => ({
  list: fc
    .array(tie('one'), { minLength: 1, maxLength: 3 })
    .map((all) => `(${all.map((one) => `(${String(one)})`).join(',')})`),
  one: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    simple,
    setName.map((name) => `RULE-SET,${name}`),
    tie('list').map((list) => `AND,${list as string}`),
    tie('list').map((list) => `OR,${list as string}`),
    tie('one').map((one) => `NOT,((${one as string}))`),
  ),
})).one as fc.Arbitrary<string>;
const logicOnly = (text: string) => /^(AND|OR|NOT),/.test(text);
const ruleSets = fc
  .tuple(
    fc.array(
      fc
        .tuple(fc.constantFrom('+.', '.', '', '*.', 'a.*.', '*.*.'), host, fc.constantFrom('', '', '', '.*'))
        .map((t) => t.join(''))
        .filter((entry) => !/^\+?\..*\*/.test(entry)),
      { maxLength: 12 },
    ),
    fc.array(cidr, { maxLength: 12 }),
    fc.array(
      fc.oneof(
        { weight: 6, arbitrary: simple },
        { weight: 1, arbitrary: nested.filter((text) => logicOnly(text) && !text.includes('RULE-SET')) },
      ),
      { maxLength: 12 },
    ),
  )
  .chain(([domain, ipcidr, classical]) => {
    const all = [
      { behavior: 'domain' as const, entries: domain },
      { behavior: 'ipcidr' as const, entries: ipcidr },
      { behavior: 'classical' as const, entries: classical },
    ];
    return fc
      .shuffledSubarray(all, { minLength: 3 })
      .map((sets): RuleSetConfig[] => [
        ...sets.map((set, i) => ({ ...set, name: `s${i}` })),
        { name: 'geosite:cn', behavior: 'domain', entries: domain },
      ]);
  });
const target = fc.constantFrom('DIRECT', 'REJECT', 'PASS', 'n1', 'n2', 'GONE', 'UDP', 'TCP', 'PASSES', 'EMPTY');
const condition: fc.Arbitrary<Pick<RuleConfig, 'type' | 'payload'>> = fc.oneof(
  { weight: 3, arbitrary: host.map((payload) => ({ type: 'DOMAIN' as const, payload })) },
  { weight: 4, arbitrary: host.map((payload) => ({ type: 'DOMAIN-SUFFIX' as const, payload })) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom('a', 'ad', 'ads', 'example', 'ple.c', 's.a', '.', 'com', 'm', 'xample.n')
      .map((payload) => ({ type: 'DOMAIN-KEYWORD' as const, payload })),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('*', 'a.*', '?.com', '*ads*.c?m', '*.example.*')
      .map((payload) => ({ type: 'DOMAIN-WILDCARD' as const, payload })),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('^ads', 'com$', '(a|b)\\.', 'e.+e')
      .map((payload) => ({ type: 'DOMAIN-REGEX' as const, payload })),
  },
  { weight: 6, arbitrary: cidr.map((payload) => ({ type: 'IP-CIDR' as const, payload })) },
  { weight: 1, arbitrary: cidr.map((payload) => ({ type: 'IP-CIDR6' as const, payload })) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom('CN', 'DE', 'us', 'LAN', 'private')
      .map((payload) => ({ type: 'GEOIP' as const, payload })),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('80', '443/8000-9000', '1-65535')
      .map((payload) => ({ type: 'DST-PORT' as const, payload })),
  },
  { weight: 1, arbitrary: fc.constantFrom('tcp', 'udp').map((payload) => ({ type: 'NETWORK' as const, payload })) },
  {
    weight: 1,
    arbitrary: fc.constantFrom('13335', '1').map((payload) => ({ type: 'IP-ASN' as const, payload })),
  },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom('0.0.0.4/3', '::1/2', '10.1.2.3/24')
      .map((payload) => ({ type: 'IP-SUFFIX' as const, payload })),
  },
  { weight: 1, arbitrary: fc.constantFrom('1', '2-9').map((payload) => ({ type: 'SRC-PORT' as const, payload })) },
  { weight: 1, arbitrary: fc.constantFrom('7890').map((payload) => ({ type: 'IN-PORT' as const, payload })) },
  { weight: 1, arbitrary: fc.constantFrom('SOCKS', 'HTTP').map((payload) => ({ type: 'IN-TYPE' as const, payload })) },
  { weight: 1, arbitrary: fc.constantFrom('anna').map((payload) => ({ type: 'IN-USER' as const, payload })) },
  { weight: 1, arbitrary: fc.constantFrom('in', 'x/y').map((payload) => ({ type: 'IN-NAME' as const, payload })) },
  { weight: 5, arbitrary: setName.map((payload) => ({ type: 'RULE-SET' as const, payload })) },
  { weight: 1, arbitrary: fc.constantFrom('cn', 'us').map((payload) => ({ type: 'GEOSITE' as const, payload })) },
  {
    weight: 4,
    arbitrary: nested.filter(logicOnly).map((text) => parseCondition(text)),
  },
  { weight: 1, arbitrary: fc.constant({ type: 'MATCH' as const, payload: '' }) },
);
const rule: fc.Arbitrary<RuleConfig> = fc
  .record({ condition, target, noResolve: fc.boolean(), src: fc.integer({ min: 0, max: 4 }).map((n) => n === 0) })
  .map(({ condition: { type, payload }, ...rest }) => ({ id: 1, source: 'manual', type, payload, ...rest }));
const flow: fc.Arbitrary<ConnectionMetadata> = fc
  .record({
    network: fc.constantFrom('tcp' as const, 'udp' as const),
    sourceIp: address,
    host: fc.option(host, { freq: 4 }),
    destinationIp: fc.option(address, { freq: 1 }),
    destinationPort: fc.constantFrom(80, 443, 8500, 53),
    inboundUser: fc.constantFrom(null, 'anna'),
  })
  .map((part) => ({ type: 'Socks5', sourcePort: 1, inboundName: 'in', inboundPort: 7890, ...part }));
const answer = fc.option(fc.array(address, { maxLength: 3 }), { freq: 4 });
const selection = fc.record({
  UDP: fc.constantFrom('n1', 'TCP'),
  TCP: fc.constantFrom('n2', 'DIRECT'),
  PASSES: fc.constantFrom('PASS', 'n1'),
});

describe('the compiled router', () => {
  it(
    'decides as an ordered scan does, resolves when it does, and explains the same decision',
    { timeout: 120_000 },
    async () => {
      let matched = 0;
      let asked = 0;
      await fc.assert(
        fc.asyncProperty(
          fc.array(rule, { maxLength: 40 }),
          fc.array(fc.tuple(flow, answer), { minLength: 1, maxLength: 6 }),
          selection,
          ruleSets,
          async (rules, flows, selected, sets) => {
            const policies = createPolicyTable(
              new Map([
                ['n1', { udp: true }],
                ['n2', { udp: false }],
              ]),
              [
                { name: 'UDP', type: 'select', members: ['n1', 'TCP'] },
                { name: 'TCP', type: 'select', members: ['n2', 'DIRECT'] },
                { name: 'PASSES', type: 'select', members: ['PASS', 'n1'] },
                { name: 'EMPTY', type: 'select', members: [] },
              ],
            );
            for (const [group, member] of Object.entries(selected)) policies.select(group, member);
            let dns: string[] | null = null;
            let lookups = 0;
            const resolver = {
              resolve: async () => {
                lookups++;
                if (dns === null) throw new DialError('dns', 'dns_error', 'no such name');
                return dns;
              },
            };
            const router = compileRouter({
              rules,
              mode: 'rule',
              defaultPolicy: 'DIRECT',
              policies,
              resolver,
              country,
              asn,
              ruleSets: compileRuleSets(sets),
            });
            for (const [one, reply] of flows) {
              dns = reply;
              lookups = 0;
              const expected = await naive(rules, one, policies, sets, () => reply);
              const answered = router.decide(one);
              expect(answered instanceof Promise).toBe(expected.asked > 0);
              const decision = await answered;
              expect(decision.rule?.index ?? -1).toBe(expected.index);
              expect(decision.resolvedIps).toEqual(expected.resolvedIps);
              expect(lookups).toBe(expected.asked);
              const { trace, evaluated, elapsedUs, ...explained } = await router.explain(one, 1000);
              expect(explained).toEqual(decision);
              expect(elapsedUs).toBeGreaterThanOrEqual(0);
              expect(evaluated).toBe(trace.length);
              expect(trace.findIndex((step) => step.result === 'match')).toBe(expected.index);
              matched += expected.index >= 0 ? 1 : 0;
              asked += expected.asked;
            }
          },
        ),
        { numRuns: 4000 },
      );
      // The generators must produce enough matches.
      expect(matched).toBeGreaterThan(1000);
      expect(asked).toBeGreaterThan(1000);
    },
  );
});
