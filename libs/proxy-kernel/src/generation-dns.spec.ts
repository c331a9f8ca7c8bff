import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import {
  KernelConfigError,
  createProxyKernel,
  parseRuleLine,
  type ConnectionMetadata,
  type KernelConfig,
} from './index.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Answers every IPv4 question with 10.1.2.3, and counts the questions. */
async function nameServer(): Promise<{ address: string; asked: () => number }> {
  let asked = 0;
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const question = query.subarray(12, query.length - 11);
    const isV4 = question.readUInt16BE(question.length - 4) === 1;
    if (isV4) asked++;
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(0x8180, 2);
    head.writeUInt16BE(isV4 ? 1 : 0, 6);
    head.writeUInt16BE(0, 10);
    const answer = isV4 ? [Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 10, 1, 2, 3])] : [];
    socket.send(Buffer.concat([head, question, ...answer]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  closers.push(() => socket.close());
  return { address: `127.0.0.1:${socket.address().port}`, asked: () => asked };
}

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const flow: ConnectionMetadata = {
  network: 'tcp',
  type: 'HTTP',
  sourceIp: '127.0.0.1',
  sourcePort: 1,
  inboundName: 'in',
  inboundUser: null,
  host: 'a.test',
  destinationIp: null,
  destinationPort: 80,
};
const config = (part: Partial<KernelConfig>, ...lines: string[]): KernelConfig => ({
  mode: 'rule',
  listeners: [],
  outbounds: [],
  groups: [],
  rules: lines.map((line, id) => ({ id, source: 'manual', ...parseRuleLine(line) })),
  defaultPolicy: 'DIRECT',
  ...part,
});

function kernel() {
  const made = createProxyKernel({
    now: () => Date.now(),
    logger: quiet,
    resolver: { resolve: () => Promise.reject(new Error('not this one')) },
    country: () => null,
  });
  closers.push(() => made.close());
  return made;
}

describe('names and rule sets of a generation', () => {
  it('resolves as configured, and keeps its cache over a reload with the same name servers', async () => {
    const [first, second] = [await nameServer(), await nameServer()];
    const one = kernel();
    const dns = { nameservers: [first.address] };
    await one.apply(config({ dns }, 'IP-CIDR,10.0.0.0/8,REJECT'));
    expect(await one.testRoute(flow)).toMatchObject({ outbound: 'REJECT', resolvedIps: ['10.1.2.3'] });
    await one.apply(config({ dns: { ...dns } }, 'IP-CIDR,10.0.0.0/8,REJECT-DROP'));
    expect(await one.testRoute(flow)).toMatchObject({ outbound: 'REJECT-DROP' });
    expect(first.asked()).toBe(1);
    await one.apply(config({ dns: { nameservers: [second.address] } }, 'IP-CIDR,10.0.0.0/8,REJECT'));
    expect(await one.testRoute(flow)).toMatchObject({ outbound: 'REJECT' });
    expect([first.asked(), second.asked()]).toEqual([1, 1]);
    await one.apply(config({}, 'IP-CIDR,10.0.0.0/8,REJECT'));
    expect(await one.testRoute(flow)).toMatchObject({ outbound: 'DIRECT' });
  });

  it('refuses a bad resolver and keeps the previous generation', async () => {
    const one = kernel();
    await one.apply(config({}, 'MATCH,REJECT'));
    await expect(one.apply(config({ dns: { nameservers: ['x y'] } }))).rejects.toThrow(KernelConfigError);
    await expect(one.apply(config({ dns: { nameservers: ['system'], fakeIp: { range: '::/0' } } }))).rejects.toThrow(
      'dns.fakeIp.range',
    );
    expect(await one.testRoute(flow)).toMatchObject({ outbound: 'REJECT' });
  });

  it('routes by rule sets and reports entries it cannot read', async () => {
    const one = kernel();
    const ruleSets = [{ name: 'ads', behavior: 'domain' as const, entries: ['+.test', 'not a name'] }];
    const { warnings } = await one.apply(config({ ruleSets }, 'RULE-SET,ads,REJECT'));
    expect(warnings).toEqual(['rule set ads: "not a name" is not a domain name']);
    expect(await one.testRoute(flow)).toMatchObject({ outbound: 'REJECT', rule: { type: 'RULE-SET' } });
  });
});
