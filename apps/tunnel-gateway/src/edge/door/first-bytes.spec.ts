import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { connect } from 'node:tls';
import { agentRouteTag } from '@gatehouse/tunnel-kernel';
import { describe, expect, it } from 'vitest';
import type { PortName } from '../../common/edge-ipc.js';
import { Dealing } from './dealing.js';
import { chooseWorker, type Choice } from './first-bytes.js';

const ANY = 63;
const KEYS = ['a', 'b', 'c'].map((letter) => letter.repeat(64));
const dealing = new Dealing(
  {
    clients: KEYS.map((keyHash, index) => ({ id: index + 3, keyHash })),
    tunnels: [{ id: 9, clientId: 4 }],
    hosts: [3, 4, 5].map((clientId) => ({
      clientId,
      host: `h${clientId}.test`,
      location: '/',
      scheme: 'all',
      certPath: 'a',
    })),
  },
  3,
);
const choose = (port: PortName, bytes: Buffer | string): Choice =>
  chooseWorker(port, Buffer.from(bytes as string, 'latin1'), { dealing, count: 3, any: () => ANY });

async function hello(servername: string, protocols: string[]): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect({ port, ALPNProtocols: protocols, ...(servername && { servername }) });
  client.on('error', () => undefined);
  const [socket] = await once(server, 'connection');
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  server.close();
  return bytes;
}

describe('the port for agents', () => {
  it('sends a data channel to the worker that issued its ticket', () => {
    const opening = Buffer.concat([Buffer.from('GWD\x01', 'latin1'), Buffer.alloc(16, 2), Buffer.alloc(16)]);
    expect(choose('agents', opening)).toBe(2);
    for (let length = 1; length < 5; length++) expect(choose('agents', opening.subarray(0, length))).toBe('more');
    opening[4] = 3;
    expect(choose('agents', opening)).toBe('refuse');
    expect(choose('agents', 'GWX\x01\x01')).toBe('refuse');
  });

  it('sends TLS to the worker that its ALPN names', async () => {
    const bytes = await hello('', ['gwt/1', `gwk/${agentRouteTag(KEYS[2] ?? '')}`]);
    expect(choose('agents', bytes)).toBe(2);
    for (const length of [1, 5, 100]) expect(choose('agents', bytes.subarray(0, length))).toBe('more');
    expect(choose('agents', await hello('', ['gwv/1', 'gwk/t9']))).toBe(1);
    expect(choose('agents', await hello('', ['gwt/1']))).toBe(ANY);
    expect(choose('agents', await hello('', ['gwt/1', 'gwk/t10']))).toBe(ANY);
  });

  it('sends a WebSocket to the worker that its request names', () => {
    const tag = agentRouteTag(KEYS[1] ?? '');
    expect(choose('agents', `GET /__gw/agent?gwk=${tag} HTTP/1.1\r\n`)).toBe(1);
    expect(choose('agents', 'GET /__gw/agent HTTP/1.1\r\n')).toBe(ANY);
    expect(choose('agents', 'GET /__gw/agent?gw')).toBe('more');
  });

  it('refuses everything else', () => {
    for (const text of ['SSH-2.0-x\r\n', 'POST / HTTP/1.1\r\n', 'GO', '\x00'])
      expect(choose('agents', text)).toBe('refuse');
    expect(choose('agents', Buffer.from([22, 9, 9, 0, 5, 1]))).toBe('refuse');
  });
});

describe('the ports for visitors of hosts', () => {
  it('route by the name in the ClientHello', async () => {
    expect(choose('https', await hello('h4.test', ['h2']))).toBe(1);
    expect(choose('https', await hello('H5.Test', ['h2']))).toBe(2);
    expect(choose('https', await hello('other.test', ['h2']))).toBe(ANY);
    expect(choose('https', await hello('', ['h2']))).toBe(ANY);
    expect(choose('https', 'GET / HTTP/1.1\r\nHost: h4.test\r\n\r\n')).toBe('refuse');
  });

  it('accept a WebSocket of an agent under any name', async () => {
    const bytes = await hello('h4.test', ['http/1.1', `gwk/${agentRouteTag(KEYS[2] ?? '')}`]);
    expect(choose('https', bytes)).toBe(2);
  });

  it.each([
    ['as it is', 'GET /x HTTP/1.1\r\nHost: h4.test\r\n', 1],
    ['with a port and spaces', 'GET /x HTTP/1.1\r\nA: b\r\nhOsT:  h5.test:8080 \r\n', 2],
    ['with any method', 'PROPFIND /x HTTP/1.1\r\nhost: H4.test.\r\n\r\n', 1],
    ['of nobody', 'GET /x HTTP/1.1\r\nHost: other.test\r\n', ANY],
    ['that is none', 'GET /x HTTP/1.1\r\nHost: a b c\r\n', ANY],
    ['that is not there', 'GET /x HTTP/1.0\r\nAccept: */*\r\n\r\n', ANY],
    ['in a body', 'POST /x HTTP/1.1\r\n\r\nA: b\r\nHost: h4.test\r\n\r\n', ANY],
    ['not whole yet', 'GET /x HTTP/1.1\r\nHost: h4.test', 'more'],
    ['not there yet', 'GET /x HT', 'more'],
  ])('read a Host %s', (_, text, expected) => {
    expect(choose('http', text)).toBe(expected);
  });

  it.each([
    ['before it', `GET / HTTP/1.1\r\nHost:${' '.repeat(3000)}`, 'more'],
    ['in it', `GET / HTTP/1.1\r\nHost: a${' \t'.repeat(8000)}b\r\n`, ANY],
    ['after it', `GET / HTTP/1.1\r\nHost: h4.test${' '.repeat(16_000)}\r\n`, 1],
  ])('are not slowed down by spaces %s', (_, text, expected) => {
    const began = performance.now();
    expect(choose('http', text)).toBe(expected);
    expect(performance.now() - began).toBeLessThan(50);
  });

  it('accept an agent by its request', () => {
    const request = `GET /__gw/agent?gwk=${agentRouteTag(KEYS[2] ?? '')} HTTP/1.1\r\nHost: h4.test\r\n\r\n`;
    expect(choose('http', request)).toBe(2);
  });
});
