import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { parseIp } from '@gatehouse/net';
import { createProxyKernel } from '@gatehouse/proxy-kernel';
import type { DnsConfig } from '@gatehouse/proxy-kernel';

export interface TestNameServer extends AsyncDisposable {
  /** `127.0.0.1:port`, as in configurations. */
  address: string;
}

/** A name server on loopback that knows only these names (Clash wildcards). */
export async function startNameServer(hosts: Record<string, string[]>): Promise<TestNameServer> {
  const silent = (): void => undefined;
  const kernel = createProxyKernel({
    now: () => Date.now(),
    logger: { debug: silent, info: silent, warn: silent, error: silent },
    resolver: { resolve: () => Promise.reject(new Error('nobody is asked')) },
    country: () => null,
  });
  // Nothing listens on the port of the server for other names.
  const dns: DnsConfig = { nameservers: ['127.0.0.1:1'], hosts, listen: { address: '127.0.0.1', port: 0 } };
  const { listeners } = await kernel.apply({
    mode: 'rule',
    listeners: [],
    outbounds: [],
    groups: [],
    rules: [],
    defaultPolicy: 'DIRECT',
    dns,
  });
  return { address: `127.0.0.1:${listeners[0]!.port}`, [Symbol.asyncDispose]: () => kernel.close() };
}

/** A name server on loopback that answers every IPv4 question with an alias and the alias's address. */
export async function startAliasServer(alias: string, address: string): Promise<TestNameServer> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port }) => socket.send(answerWithAlias(query, alias, address), port, '127.0.0.1'));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}

/** A name server on loopback that answers by a table; names without addresses do not exist. */
export async function startTableServer(addressesOf: (name: string) => string[]): Promise<TestNameServer> {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port }) => socket.send(answerByTable(query, addressesOf), port, '127.0.0.1'));
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${socket.address().port}`,
    async [Symbol.asyncDispose]() {
      const closed = once(socket, 'close');
      socket.close();
      await closed;
    },
  };
}

function answerByTable(query: Buffer, addressesOf: (name: string) => string[]): Buffer {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  const type = query.readUInt16BE(at + 1);
  const known = addressesOf(labels.join('.').toLowerCase());
  const wanted = known.filter((address) => (address.includes(':') ? 28 : 1) === type);
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(known.length > 0 ? 0x8180 : 0x8183, 2);
  header.writeUInt16BE(wanted.length, 6);
  header.fill(0, 8, 12);
  const records = wanted.map((address) => record(Buffer.from([0xc0, 12]), type, bytesOf(address)));
  return Buffer.concat([header, query.subarray(12, at + 5), ...records]);
}

function bytesOf(address: string): Buffer {
  const words = parseIp(address)?.words ?? [];
  const bytes = Buffer.alloc(words.length * 4);
  for (const [index, word] of words.entries()) bytes.writeUInt32BE(word, index * 4);
  return bytes;
}

/** RFC 1035 section 4.1: the question is repeated; for IPv4 a CNAME and an A record follow. */
function answerWithAlias(query: Buffer, alias: string, address: string): Buffer {
  const endOfName = query.indexOf(0, 12);
  const question = query.subarray(12, endOfName + 5);
  const isIPv4 = query.readUInt16BE(endOfName + 1) === 1;
  const header = Buffer.from(query.subarray(0, 12));
  header.writeUInt16BE(0x8180, 2);
  header.writeUInt16BE(isIPv4 ? 2 : 0, 6);
  header.fill(0, 8, 12);
  const labels = alias.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1'));
  const name = Buffer.concat([...labels, Buffer.alloc(1)]);
  const cname = record(Buffer.from([0xc0, 12]), 5, name);
  const a = record(name, 1, Buffer.from(address.split('.').map(Number)));
  return Buffer.concat([header, question, ...(isIPv4 ? [cname, a] : [])]);
}

/** A record of class IN with a lifetime of a minute. */
function record(name: Buffer, type: number, data: Buffer): Buffer {
  const fields = Buffer.alloc(10);
  fields.writeUInt16BE(type, 0);
  fields.writeUInt16BE(1, 2);
  fields.writeUInt32BE(60, 4);
  fields.writeUInt16BE(data.length, 8);
  return Buffer.concat([name, fields, data]);
}
