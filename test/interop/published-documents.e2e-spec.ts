import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { ProxyNode } from '@gatehouse/contracts';
import {
  parseSubscription,
  readTemplate,
  writeOwnTemplate,
  writeTarget,
  type CompileFilter,
  type TargetInput,
} from '@gatehouse/subscription-formats';
import { reservePort, startHttpOrigin, startTcpEcho, waitFor } from '@gatehouse/testing';
import { afterAll, expect, it, type TestContext } from 'vitest';
import { optionalPeer, requirePeer } from '../support/peers.js';
import { Programs } from '../support/processes.js';
import { readExactly, socksConnect } from '../support/socks-client.js';

/** The documents of publications, as the programs read them that they are for. */

const run = promisify(execFile);
const programs = new Programs();
afterAll(() => programs.stopAll());

const CHECKS = {
  clash: (program: string, folder: string, file: string) => run(program, ['-t', '-d', folder, '-f', file]),
  'sing-box': (program: string, folder: string, file: string) => run(program, ['check', '-D', folder, '-c', file]),
} as const;
const PROGRAM_OF = { clash: 'mihomo', 'sing-box': 'sing-box' } as const;
type Target = keyof typeof CHECKS;
const TARGETS: Target[] = ['clash', 'sing-box'];

const UUID = '11111111-2222-4333-8444-555555555555';
const KEY = 'jNXHt1yRo0vDuchQlIP6Z0ZvjT3KtzVI-T4E7RoLJS0';
const WS = 'network: ws, ws-opts: {path: "/w?ed=2048", headers: {Host: c.example, X-A: b}}';
/** A node of every type and transport that programs take, and some that they refuse together with the whole document. */
const ENTRIES = [
  'type: ss, cipher: aes-128-gcm, password: "p, w#", udp: true',
  'type: ss, cipher: 2022-blake3-aes-128-gcm, password: AAAAAAAAAAAAAAAAAAAAAA==, udp-over-tcp: true',
  'type: ss, cipher: rc4-md5, password: p',
  'type: ss, cipher: unheard-of, password: p',
  'type: ss, cipher: aes-256-gcm, password: p, plugin: obfs, plugin-opts: {mode: tls, host: o.example}',
  'type: ss, cipher: aes-256-gcm, password: p, plugin: v2ray-plugin, plugin-opts: {mode: websocket, tls: true, mux: false}',
  'type: ss, cipher: aes-256-gcm, password: p, plugin: shadow-tls, plugin-opts: {host: o.example, password: s, version: 3}',
  'type: ss, cipher: aes-256-gcm, password: p, plugin: unheard-of',
  'type: socks5, username: u, password: p, tls: true, skip-cert-verify: true',
  'type: http, username: u, password: p, tls: true, sni: s.example, headers: {X-A: b}',
  `type: trojan, password: p, sni: s.example, alpn: [h2, http/1.1], ${WS}`,
  'type: trojan, password: p, network: grpc, grpc-opts: {grpc-service-name: g}',
  `type: trojan, password: p, fingerprint: ${'ab'.repeat(32)}`,
  'type: trojan, password: p, network: xhttp, xhttp-opts: {path: /x}',
  `type: vmess, uuid: ${UUID}, alterId: 0, cipher: auto, tls: true, servername: s.example, ${WS}`,
  `type: vmess, uuid: ${UUID}, alterId: 64, cipher: zero, packet-encoding: xudp`,
  `type: vmess, uuid: ${UUID}, alterId: 0, cipher: auto, tls: true, network: h2, h2-opts: {host: [c.example], path: /h}`,
  `type: vmess, uuid: ${UUID}, alterId: 0, cipher: auto, network: http, http-opts: {path: [/h]}`,
  `type: vmess, uuid: ${UUID}, alterId: 0, cipher: auto, network: kcp, kcp-opts: {seed: s}`,
  `type: vless, uuid: ${UUID}, tls: true, flow: xtls-rprx-vision, client-fingerprint: chrome, reality-opts: {public-key: ${KEY}, short-id: "08"}`,
  `type: vless, uuid: custom-id, tls: true, network: ws, ws-opts: {path: /u, v2ray-http-upgrade: true}`,
  'type: hysteria, auth-str: a, up: 100 Mbps, down: 200, obfs: o, sni: s.example',
  'type: hysteria, auth-str: a',
  'type: hysteria2, password: p, ports: "443,5000-6000", hop-interval: 15-30, obfs: salamander, obfs-password: m, up: 30 Mbps, alpn: [h3]',
  'type: hysteria2, password: p, obfs: salamander',
  `type: tuic, uuid: ${UUID}, password: p, alpn: [h3], congestion-controller: bbr, reduce-rtt: true, disable-sni: true`,
  'type: tuic, token: t',
  'type: anytls, password: p, sni: s.example, client-fingerprint: chrome, idle-session-timeout: 30',
  'type: snell, psk: p, version: 2, udp: true',
  'type: snell, psk: p, version: 4',
  'type: ssh, username: u, password: p',
  'type: ssr, cipher: aes-256-cfb, password: p, protocol: auth_aes128_md5, obfs: tls1.2_ticket_auth, obfs-param: c.example',
  'type: mieru, username: u, password: p, transport: TCP, multiplexing: MULTIPLEXING_LOW',
  'type: naive, username: u, password: p',
  `type: juicity, uuid: ${UUID}, password: p`,
  'type: wireguard, private-key: eCtXsJZ27+4PbhDkHnB923tkUn2Gj59wZw5wFA75MnU=, public-key: Cr8hWlKvtDt7nrvf+f0brNQQzabAqrjfBvas9pmowjo=, ip: 172.16.0.2, ipv6: "fd00::2", reserved: [1, 2, 3], mtu: 1408',
];

/** How many of them are in the documents. */
const WRITTEN = { clash: 26, 'sing-box': 19 } as const;

function nodesOfEveryKind(): ProxyNode[] {
  const lines = ENTRIES.map((entry, at) => `  - {name: "same, name", server: 192.0.2.${at + 1}, port: 443, ${entry}}`);
  const { nodes, skipped } = parseSubscription(`proxies:\n${lines.join('\n')}\n`);
  expect(skipped).toEqual([]);
  return nodes.map(({ node }) => node);
}

function inputOf(target: Target, nodes: readonly ProxyNode[]): TargetInput {
  // The mihomo that `npm run peers` builds has no network stack of its own, which WireGuard needs.
  const usable = nodes.filter((node) => target !== 'clash' || node.type !== 'wireguard');
  const tagged = usable.map((node, index) => {
    const { dialerProxy: _label, ...own } = node;
    // The first one carries some of the others.
    const dialer = index > 0 && index % 7 === 0 ? { dialer: 'n0' } : {};
    return { tag: `n${index}`, node: own as ProxyNode, ...dialer };
  });
  return {
    nodes: tagged,
    groups: [
      { name: 'PROXY', type: 'select', members: ['AUTO', 'SPREAD', ...tagged.map(({ tag }) => tag), 'DIRECT'] },
      { name: 'AUTO', type: 'url-test', members: tagged.map(({ tag }) => tag), intervalSec: 300, toleranceMs: 50 },
      { name: 'SPREAD', type: 'load-balance', members: tagged.map(({ tag }) => tag) },
    ],
    rules: [
      { type: 'DOMAIN-SUFFIX', payload: 'blocked.example', target: 'REJECT' },
      { type: 'DOMAIN-KEYWORD', payload: 'word', target: 'AUTO' },
      { type: 'IP-CIDR', payload: '192.0.2.0/24', target: 'DIRECT' },
      { type: 'DST-PORT', payload: '22,8000-8100', target: 'DIRECT' },
      { type: 'RULE-SET', payload: 'ads', target: 'REJECT-DROP' },
    ],
    ruleSets: [{ name: 'ads', behavior: 'domain', entries: ['+.ads.example'] }],
    final: 'PROXY',
  };
}

const problems = (context: TestContext, target: Target, input: TargetInput): Promise<string> =>
  problemsOf(context, target, writeTarget(target, input).text);

async function problemsOf(context: TestContext, target: Target, text: string): Promise<string> {
  const program = optionalPeer(context, PROGRAM_OF[target]);
  const folder = programs.folder('gatehouse-published-');
  const file = path.join(folder, 'document');
  writeFileSync(file, text);
  try {
    await CHECKS[target](program, folder, file);
    return '';
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return `${stdout}${stderr}` || String(error);
  }
}

/** Patterns of these templates are plain words. */
const compile: CompileFilter =
  ({ include, exclude }) =>
  ({ name }) =>
    (include.length === 0 || include.some(({ all }) => all.every((word) => name.includes(word)))) &&
    !exclude.some(({ all }) => all.every((word) => name.includes(word)));

/** Documents as people have them, with a group that gets no nodes: it is in a rule and in another group. */
const TEMPLATES: Readonly<Record<Target, string>> = {
  clash: `# my own
mixed-port: 7890
mode: rule
log-level: info
dns: {enable: true, listen: "", nameserver: [system]}
base: &base {type: url-test, url: "http://127.0.0.1:1/", interval: 300, lazy: true}
proxies:
- {name: 直连, type: direct}
proxy-groups:
  - {name: PROXY, type: select, proxies: [Auto, Nowhere, Missing], include-all: true, exclude-filter: bad}
  - {name: Auto, <<: *base, include-all: true, filter: good}
  - {name: Nowhere, type: select, include-all: true, filter: nowhere}
  - {name: BROKEN, type: fallback, include-all: true, filter: bad, interval: 300, url: "http://127.0.0.1:1/"}
rule-providers:
  lan: {type: inline, behavior: ipcidr, payload: [10.0.0.0/8]}
sub-rules:
  inner:
  - MATCH,直连
rules:
  - RULE-SET,lan,直连
  - SUB-RULE,(DOMAIN,sub.test),inner
  - DOMAIN,blocked.test,Nowhere
  - DST-PORT,ORIGIN,BROKEN
  - MATCH,PROXY
`,
  'sing-box': `{
  // my own
  "log": { "level": "info" },
  "dns": { "servers": [{ "type": "local", "tag": "local" }] },
  "inbounds": [{ "type": "mixed", "tag": "mixed-in", "listen": "127.0.0.1", "listen_port": 2080 }],
  "outbounds": [
    { "type": "selector", "tag": "PROXY", "outbounds": ["{all:good}", "Auto", "Nowhere", "Missing", "direct"], },
    { "type": "urltest", "tag": "Auto", "include-all": true, "filter": "good", "url": "http://127.0.0.1:1/" },
    { "type": "selector", "tag": "Nowhere", "outbounds": ["{all:nowhere}"] },
    { "type": "selector", "tag": "BROKEN", "outbounds": ["{all}"], "filter": [{ "action": "include", "keywords": ["bad"] }] },
    { "type": "direct", "tag": "direct" },
  ],
  "route": {
    "rule_set": [{ "type": "inline", "tag": "lan", "rules": [{ "ip_cidr": ["10.0.0.0/8"] }] }],
    "rules": [
      { "rule_set": "lan", "outbound": "direct" },
      { "domain": ["blocked.test"], "outbound": "Nowhere" },
      { "port": [ORIGIN], "outbound": "BROKEN" },
    ],
    "final": "PROXY",
    "default_domain_resolver": "local",
  },
}`,
};

for (const target of TARGETS) {
  it(`${target}: its program takes a document of one's own with nodes of every type`, async (context) => {
    const { nodes } = inputOf(target, nodesOfEveryKind());
    const template = readTemplate(target, TEMPLATES[target].replace('ORIGIN', '8080'), compile);
    const { text, nodes: written, remarks } = writeOwnTemplate(target, template, { nodes });
    expect(await problemsOf(context, target, text)).toBe('');
    expect(written).toBe(WRITTEN[target]);
    expect(remarks).toContainEqual(expect.objectContaining({ reason: 'group_member', examples: ['PROXY: Missing'] }));
  });

  it(`${target}: its program takes documents with nodes of every type and option`, async (context) => {
    const input = inputOf(target, nodesOfEveryKind());
    expect(await problems(context, target, input)).toBe('');
    expect(writeTarget(target, input).nodes).toBe(WRITTEN[target]);
  });

  it(`${target}: its program sends traffic through the nodes, groups and rules of a document`, async (context) => {
    const program = optionalPeer(context, PROGRAM_OF[target]);
    const password = 'p,w#secret';
    const nodes = await goodAndBad(context, password);
    await using echo = await startTcpEcho();
    await using origin = await startHttpOrigin();
    const input: TargetInput = {
      nodes,
      groups: [
        { name: 'PROXY', type: 'select', members: ['n1', 'n2'] },
        { name: 'BROKEN', type: 'select', members: ['n2', 'n1'] },
      ],
      rules: [
        { type: 'DOMAIN', payload: 'blocked.test', target: 'REJECT' },
        { type: 'DST-PORT', payload: String(origin.port), target: 'BROKEN' },
      ],
      final: 'PROXY',
    };
    await expectTraffic(await start(program, target, writeTarget(target, input).text), echo.port, origin.port);
  });

  it(`${target}: its program sends traffic by the groups and rules of a document of one's own`, async (context) => {
    const program = optionalPeer(context, PROGRAM_OF[target]);
    const nodes = await goodAndBad(context, 'p,w#secret');
    await using echo = await startTcpEcho();
    await using origin = await startHttpOrigin();
    const template = readTemplate(target, TEMPLATES[target].replace('ORIGIN', String(origin.port)), compile);
    const { text } = writeOwnTemplate(target, template, { nodes });
    await expectTraffic(await start(program, target, text), echo.port, origin.port);
  });
}

/** A server, and a place where none is. */
async function goodAndBad(context: TestContext, password: string): Promise<TargetInput['nodes']> {
  const port = await programs.start(requirePeer(context, 'ss-server'), (candidate) => [
    '-s',
    '127.0.0.1',
    '-p',
    String(candidate),
    '-m',
    'aes-128-gcm',
    '-k',
    password,
  ]);
  const shared = { type: 'ss', server: '127.0.0.1', cipher: 'aes-128-gcm', password } as const;
  return [
    { tag: 'n1', node: { ...shared, name: 'good', port } },
    { tag: 'n2', node: { ...shared, name: 'bad', port: await reservePort() } },
  ];
}

/** Through the good node, not through the bad one, and not to what is blocked. */
async function expectTraffic(proxy: number, echo: number, origin: number): Promise<void> {
  // mihomo opens its port a moment before it carries connections.
  const across = await waitFor(() => echoed(proxy, echo).catch(() => undefined));
  expect(across).toBe('across');
  await expect(answerThrough(proxy, origin)).rejects.toThrow();
  await expect(answerThrough(proxy, echo, 'blocked.test')).rejects.toThrow();
}

async function echoed(proxy: number, port: number): Promise<string> {
  const socket = await socksConnect(proxy, port);
  socket.write('across');
  try {
    return (await readExactly(socket, 6)).toString();
  } finally {
    socket.destroy();
  }
}

/** The first bytes that come back; rejects when the connection ends without any. */
async function answerThrough(proxy: number, port: number, host?: string): Promise<Buffer> {
  const socket = await socksConnect(proxy, port, host);
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  try {
    return await readExactly(socket, 1);
  } finally {
    socket.destroy();
  }
}

/** Runs the document with a port of its own, and without what needs the rights of an administrator. */
function start(program: string, target: Target, text: string): Promise<number> {
  const folder = programs.folder('gatehouse-published-');
  const file = path.join(folder, 'document');
  return programs.start(program, (port) => {
    if (target === 'clash') {
      writeFileSync(file, text.replace('mixed-port: 7890', `mixed-port: ${port}`));
      return ['-d', folder, '-f', file];
    }
    const document = JSON.parse(text) as { inbounds: { type: string }[]; route: object };
    const inbounds = document.inbounds
      .filter(({ type }) => type !== 'tun')
      .map((inbound) => ({ ...inbound, listen_port: port }));
    const route = { ...document.route, auto_detect_interface: false };
    writeFileSync(file, JSON.stringify({ ...document, inbounds, route }));
    return ['run', '-D', folder, '-c', file];
  });
}
