import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { ProxyNode } from '@gatehouse/contracts';
import { writeTarget, type TargetInput } from '@gatehouse/subscription-formats';
import { reservePort, startHttpOrigin, startTcpEcho } from '@gatehouse/testing';
import fc from 'fast-check';
import { afterAll, expect, it, type TestContext } from 'vitest';
import { anyNode, linklessNode } from '../../libs/subscription-formats/test/other-node-arbitraries.js';
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

/** Generated keys are random texts; the programs compute with them. */
function sound(node: ProxyNode): boolean {
  const text = JSON.stringify(node);
  return (
    !text.includes('BEGIN CERTIFICATE') &&
    !text.includes('mlkem768') &&
    !text.includes('AEn+DQ') &&
    !text.includes('AAAA')
  );
}

function inputOf(target: Target, nodes: readonly ProxyNode[]): TargetInput {
  // The mihomo that `npm run peers` builds has no network stack of its own, which WireGuard needs.
  const usable = nodes.filter((node) => sound(node) && (target !== 'clash' || node.type !== 'wireguard'));
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

async function problems(context: TestContext, target: Target, input: TargetInput): Promise<string> {
  const program = optionalPeer(context, PROGRAM_OF[target]);
  const folder = programs.folder('gatehouse-published-');
  const file = path.join(folder, 'document');
  writeFileSync(file, writeTarget(target, input).text);
  try {
    await CHECKS[target](program, folder, file);
    return '';
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return `${stdout}${stderr}` || String(error);
  }
}

for (const target of TARGETS) {
  it(`${target}: its program takes documents with nodes of every type and option`, async (context) => {
    const nodes = fc.sample(fc.oneof({ weight: 6, arbitrary: anyNode }, linklessNode), { numRuns: 400, seed: 125 });
    const input = inputOf(target, nodes);
    expect(await problems(context, target, input)).toBe('');
    expect(writeTarget(target, input).nodes).toBeGreaterThan(target === 'clash' ? 200 : 40);
  });

  it(`${target}: its program sends traffic through the nodes, groups and rules of a document`, async (context) => {
    const program = optionalPeer(context, PROGRAM_OF[target]);
    const password = 'p,w#secret';
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
    const closed = await reservePort();
    await using echo = await startTcpEcho();
    await using origin = await startHttpOrigin();
    const input: TargetInput = {
      nodes: [
        { tag: 'n1', node: { type: 'ss', name: 'good', server: '127.0.0.1', port, cipher: 'aes-128-gcm', password } },
        {
          tag: 'n2',
          node: { type: 'ss', name: 'bad', server: '127.0.0.1', port: closed, cipher: 'aes-128-gcm', password },
        },
      ],
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
    const proxy = await start(program, target, writeTarget(target, input).text);
    const through = await socksConnect(proxy, echo.port);
    through.write('across');
    expect((await readExactly(through, 6)).toString()).toBe('across');
    through.destroy();
    await expect(answerThrough(proxy, origin.port)).rejects.toThrow();
    await expect(answerThrough(proxy, echo.port, 'blocked.test')).rejects.toThrow();
  });
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
