// The same rules in the configuration of each program. What meets a rule is rejected, so that nothing but the decision
// differs; the rest goes to `rest`: `REJECT`, or the port of a SOCKS5 server that counts.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findPeer, freePort, startProgram, startScript } from '../processes.mjs';

/** 120,000 rules take their time. */
const LOADING_SECONDS = 60;

/** @param list `{ rules }`, each rule of its own, or `{ sets }`, with a rule for each; none: nothing but the last rule */
export function programs(folder) {
  const write = (name, value) => {
    const file = path.join(folder, `${name}-${process.hrtime.bigint()}.json`);
    writeFileSync(file, JSON.stringify(value));
    return file;
  };
  const all = [
    { name: 'gatehouse', start: (list, rest) => startKernel(write, list, rest) },
    { name: 'mihomo', start: (list, rest) => startMihomo(folder, write, list, rest) },
    { name: 'sing-box', start: (list, rest) => startSingBox(write, list, rest) },
  ];
  return all.filter(({ name }) => name === 'gatehouse' || findPeer(name));
}

async function startKernel(write, { rules = [], sets = [] }, rest) {
  const rule = (type, payload, id) => ({ id, source: 'manual', type, payload, target: 'REJECT', noResolve: true });
  const sink = { name: 'sink', type: 'socks5', server: '127.0.0.1', port: rest };
  const config = {
    mode: 'rule',
    listeners: [{ name: 'mixed', type: 'mixed', address: '127.0.0.1', port: 0 }],
    outbounds: rest === 'REJECT' ? [] : [{ tag: 'n1', node: sink }],
    groups: [],
    rules: [
      ...rules.map(({ type, payload }, i) => rule(type, payload, i + 1)),
      ...sets.map(({ name }, i) => rule('RULE-SET', name, i + 1)),
    ],
    ruleSets: sets,
    defaultPolicy: rest === 'REJECT' ? 'REJECT' : 'n1',
  };
  const file = write('kernel', config);
  const { child, first } = await startScript(fileURLToPath(new URL('kernel.mjs', import.meta.url)), [file]);
  return { child, port: first.port };
}

async function startMihomo(folder, write, { rules = [], sets = [] }, rest) {
  const port = await freePort();
  const home = path.join(folder, `mihomo-${port}`);
  mkdirSync(home);
  const provider = ({ behavior, entries }) => ({ type: 'inline', behavior, payload: entries });
  const last = rest === 'REJECT' ? 'REJECT' : 'sink';
  const config = {
    'socks-port': port,
    'bind-address': '127.0.0.1',
    'log-level': 'silent',
    'find-process-mode': 'off',
    ipv6: true,
    ...(last === 'sink' && { proxies: [{ name: 'sink', type: 'socks5', server: '127.0.0.1', port: rest }] }),
    'rule-providers': Object.fromEntries(sets.map((set) => [set.name, provider(set)])),
    rules: [
      ...rules.map(({ type, payload }) => `${type},${payload},REJECT${type.startsWith('IP') ? ',no-resolve' : ''}`),
      ...sets.map(({ name }) => `RULE-SET,${name},REJECT,no-resolve`),
      `MATCH,${last}`,
    ],
  };
  // YAML contains JSON.
  const args = ['-d', home, '-f', write('mihomo', config)];
  return { ...(await startProgram(findPeer('mihomo'), args, port, { waitSeconds: LOADING_SECONDS })), port };
}

async function startSingBox(write, { rules = [], sets: all = [] }, rest) {
  // It refuses a set without entries, which nothing meets.
  const sets = all.filter(({ entries }) => entries.length > 0);
  const port = await freePort();
  const reject = { action: 'reject', method: 'default', no_drop: true };
  const sink = { type: 'socks', tag: 'sink', server: '127.0.0.1', server_port: rest };
  const config = {
    log: { disabled: true },
    inbounds: [{ type: 'socks', listen: '127.0.0.1', listen_port: port }],
    outbounds: [{ type: 'direct', tag: 'direct' }, ...(rest === 'REJECT' ? [] : [sink])],
    route: {
      rule_set: sets.map(({ name, entries }) => ({ type: 'inline', tag: name, rules: headless(entries) })),
      rules: [
        ...rules.map((rule) => ({ ...condition([rule]), ...reject })),
        ...sets.map(({ name }) => ({ rule_set: [name], ...reject })),
        ...(rest === 'REJECT' ? [{ network: ['tcp', 'udp'], ...reject }] : []),
      ],
      final: rest === 'REJECT' ? 'direct' : 'sink',
    },
  };
  const args = ['run', '-c', write('sing-box', config)];
  return { ...(await startProgram(findPeer('sing-box'), args, port, { waitSeconds: LOADING_SECONDS })), port };
}

const FIELDS = {
  DOMAIN: 'domain',
  'DOMAIN-SUFFIX': 'domain_suffix',
  'DOMAIN-KEYWORD': 'domain_keyword',
  'IP-CIDR': 'ip_cidr',
  'IP-CIDR6': 'ip_cidr',
};

/** One rule of sing-box that any of these meets. */
function condition(rules) {
  const found = {};
  for (const { type, payload } of rules) {
    if (type === 'DST-PORT') {
      const parts = payload.split('/');
      found.port = parts.filter((part) => !part.includes('-')).map(Number);
      found.port_range = parts.filter((part) => part.includes('-')).map((part) => part.replace('-', ':'));
    } else (found[FIELDS[type]] ??= []).push(payload);
  }
  return found;
}

/** The entries of a set: `+.name`, `name`, a prefix, or `TYPE,payload`. */
function headless(entries) {
  const rules = entries.map((entry) => {
    const [type, payload] = entry.split(',');
    if (payload !== undefined) return { type, payload };
    if (entry.startsWith('+.')) return { type: 'DOMAIN-SUFFIX', payload: entry.slice(2) };
    return { type: entry.includes('/') ? 'IP-CIDR' : 'DOMAIN', payload: entry };
  });
  return [condition(rules)];
}
