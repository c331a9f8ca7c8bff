// Rule decisions at 100,000 domains, 20,000 prefixes and 500 keywords, as rules of their own and in rule sets: time to compile,
// memory kept, time for a decision. Then the same beside mihomo and sing-box, as whole programs.
// npm run bench -- rules [own|peers]
// Without --expose-gc, which npm run bench gives, memory is an estimate.
import { compileRouter, compileRuleSets, createPolicyTable } from '@gatehouse/proxy-kernel';
import { stopAll } from './processes.mjs';
import { benchPeers } from './rules/peers.mjs';
import { printTable } from './table.mjs';

const DOMAINS = 100_000;
const PREFIXES = 20_000;
const KEYWORDS = 500;
const PROBES = 50_000;
const ROUNDS = 10;

/** Mulberry32: repeatable, and with a period long enough that no two probes are alike by accident. */
function random(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (t ^ (t >>> 14)) >>> 0;
  };
}

const next = random(42);
const pick = (list) => list[next() % list.length];
const word = (min, max) =>
  Array.from({ length: min + (next() % (max - min + 1)) }, () => pick('abcdefghijklmnopqrstuvwxyz0123456789')).join('');
const TLDS = ['com', 'net', 'org', 'io', 'cn', 'de', 'co.uk', 'com.br'];
const name = () => `${word(4, 14)}.${pick(TLDS)}`;
const ipv4 = () => [next() % 224, next() & 255, next() & 255, next() & 255].join('.');
const ipv6 = () =>
  `2${(next() & 0xfff).toString(16).padStart(3, '0')}:${(next() & 0xffff).toString(16)}:${(next() & 0xffff).toString(16)}::1`;

function buildRules() {
  const domains = Array.from({ length: DOMAINS }, (_, i) => ({
    type: i % 10 === 0 ? 'DOMAIN' : 'DOMAIN-SUFFIX',
    payload: name(),
  }));
  const prefixes = Array.from({ length: PREFIXES }, (_, i) =>
    i % 5 === 0
      ? { type: 'IP-CIDR6', payload: `${ipv6()}/${24 + (next() % 40)}`, noResolve: true }
      : { type: 'IP-CIDR', payload: `${ipv4()}/${12 + (next() % 21)}`, noResolve: true },
  );
  const keywords = Array.from({ length: KEYWORDS }, () => ({ type: 'DOMAIN-KEYWORD', payload: word(6, 10) }));
  const rest = [
    { type: 'DST-PORT', payload: '22/25/6881-6889' },
    { type: 'MATCH', payload: '' },
  ];
  return [...domains, ...prefixes, ...keywords, ...rest].map((rule, id) => ({
    id,
    source: 'manual',
    target: pick(['n1', 'n2', 'DIRECT']),
    ...rule,
  }));
}

const flow = (part) => ({
  network: 'tcp',
  type: 'HTTP',
  sourceIp: '127.0.0.1',
  sourcePort: 1,
  inboundName: 'mixed',
  inboundUser: null,
  host: null,
  destinationIp: null,
  destinationPort: 443,
  ...part,
});
/** A copy in one piece, as a host read from a socket is: not a rope of the pieces it was put together from. */
const flat = (text) => Buffer.from(text).toString('latin1');

/** The same rules as the entries of 60 sets: 40 of names, 10 of prefixes, 10 of rules with the keywords among them. */
function asRuleSets(rules) {
  const sets = Array.from({ length: 60 }, (_, i) => ({
    name: `set${i}`,
    behavior: i < 40 ? 'domain' : i < 50 ? 'ipcidr' : 'classical',
    entries: [],
  }));
  for (const [i, { type, payload }] of rules.entries()) {
    if (type === 'DST-PORT' || type === 'MATCH') continue;
    const classical = i % 10 === 0 || type === 'DOMAIN-KEYWORD';
    if (classical) sets[50 + (i % 10)].entries.push(`${type},${payload}`);
    else if (type.startsWith('IP')) sets[40 + (i % 10)].entries.push(payload);
    else sets[i % 40].entries.push(type === 'DOMAIN' ? payload : `+.${payload}`);
  }
  return sets;
}

function buildProbes(rules) {
  const domains = rules.filter((rule) => rule.type.startsWith('DOMAIN-S'));
  const list = (make) => Array.from({ length: PROBES }, make);
  return {
    'domain, hit': list(() => flow({ host: flat(`${word(2, 8)}.${pick(domains).payload}`) })),
    'domain, miss': list(() => flow({ host: flat(`${word(2, 8)}.${word(15, 18)}.com`) })),
    IPv4: list(() => flow({ destinationIp: flat(ipv4()) })),
    IPv6: list(() => flow({ destinationIp: flat(ipv6()) })),
    'domain and IPv4': list(() => flow({ host: flat(`www.${word(15, 18)}.com`), destinationIp: flat(ipv4()) })),
  };
}

function measure(router, probes) {
  const rounds = [];
  let decided = 0;
  for (let round = 0; round < ROUNDS; round++) {
    const before = process.cpuUsage();
    for (const probe of probes) if (router.decide(probe).rule !== null) decided++;
    const { user, system } = process.cpuUsage(before);
    rounds.push(((user + system) * 1000) / probes.length);
  }
  if (decided !== ROUNDS * probes.length) throw new Error('a probe met no rule, not even MATCH');
  return Math.min(...rounds.slice(2));
}

const used = () => {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

const policies = createPolicyTable(
  new Map([
    ['n1', { udp: true }],
    ['n2', { udp: true }],
  ]),
  [],
);
const options = {
  mode: 'rule',
  defaultPolicy: 'DIRECT',
  policies,
  resolver: { resolve: async () => [] },
  country: () => null,
};

const compilations = [];

/** Compiles, keeps what it took, and prints what decisions take. */
function report({ name, title, count }, probes, compile) {
  const before = used();
  const started = performance.now();
  const worked = process.cpuUsage();
  const compiled = compile();
  const compileMs = performance.now() - started;
  const { user, system } = process.cpuUsage(worked);
  const unswept = process.memoryUsage();
  const kept = used() - before;
  compilations.push({
    title,
    count,
    ms: compileMs,
    cpuMs: (user + system) / 1000,
    kept: kept / 1e6,
    most: (unswept.heapUsed + unswept.arrayBuffers - before) / 1e6,
  });
  console.log(`\nDecisions, ns: ${title}\n`);
  printTable(
    name,
    [
      ['decision', ([label]) => label],
      ['50,000 flows, all different, ns', ([, list]) => measure(compiled.router, list).toFixed(0)],
      [
        '100 flows, over and over, ns',
        ([, list]) =>
          measure(
            compiled.router,
            list.map((_, i) => list[i % 100]),
          ).toFixed(0),
      ],
    ],
    Object.entries(probes),
  );
  return compiled;
}

const rules = buildRules();
const probes = buildProbes(rules);
const sets = asRuleSets(rules);
const wanted = process.argv[2];
if (wanted !== 'peers') benchOwn();
if (wanted !== 'own') {
  const lists = [
    ['peers', `${rules.length - 1} rules of their own`, { rules: rules.slice(0, -1) }],
    ['peers-sets', 'the same as the entries of 60 rule sets', { sets }],
  ];
  try {
    await benchPeers(lists, probes);
  } finally {
    await stopAll();
  }
}

function benchOwn() {
  report({ name: 'rules', title: 'rules', count: rules.length }, probes, () => ({
    router: compileRouter({ ...options, rules }),
  }));

  const setRules = [
    ...sets.map(({ name }, id) => ({
      id,
      source: 'manual',
      type: 'RULE-SET',
      payload: name,
      target: pick(['n1', 'DIRECT']),
      noResolve: true,
    })),
    ...rules.slice(-2),
  ];
  const inSets = { name: 'rule-sets', title: 'entries of 60 rule sets', count: rules.length - 2 };
  const { ruleSets } = report(inSets, probes, () => {
    const compiled = compileRuleSets(sets);
    return { ruleSets: compiled, router: compileRouter({ ...options, rules: setRules, ruleSets: compiled }) };
  });
  const copy = structuredClone(sets);
  function reload() {
    const began = performance.now();
    compileRouter({ ...options, rules: setRules, ruleSets: compileRuleSets(copy, ruleSets) });
    return (performance.now() - began).toFixed(0);
  }
  const unchanged = reload();
  copy[0].entries.push('+.one.more.example');
  const changed = reload();
  console.log(`\nCompiling; memory ${globalThis.gc ? 'after a collection' : 'estimated: run with --expose-gc'}\n`);
  printTable(
    'compiling',
    [
      ['', ({ title }) => title],
      ['number', ({ count }) => count],
      ['ms', ({ ms }) => ms.toFixed(0)],
      ['CPU ms, collectors included', ({ cpuMs }) => cpuMs.toFixed(0)],
      ['MB kept', ({ kept }) => kept.toFixed(1)],
      ['MB at its highest', ({ most }) => most.toFixed(1)],
      ['reload of the same, ms', ({ title }) => (title === inSets.title ? unchanged : '')],
      ['with one set changed, ms', ({ title }) => (title === inSets.title ? changed : '')],
    ],
    compilations,
  );
}
