import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { waitFor } from '@gatehouse/testing';
import { expect } from 'vitest';
import { must, type JsonClient } from './json-client.js';

const HOST = 'rules.test';
/** In the list of addresses. */
const LISTED = '198.51.100.7';
/** In the autonomous system. */
const SYSTEM = '203.0.113.9';
const OTHER = '192.0.2.77';

/** What the gateway needs for the rules: visitors come through a trusted proxy. */
export const rulesEnvironment = (asnFile: string): Record<string, string> => ({
  TRUSTED_PROXIES: '127.0.0.1/32',
  GEOIP_ASN_FILE: asnFile,
});
export const NETWORKS = { '203.0.113.0/24': 64_501 };

/** One request of each kind, with its answer while the rules act. */
const REQUESTS: readonly [address: string, request: string, status: number][] = [
  [LISTED, 'GET /office/x', 403],
  [OTHER, 'GET /office/x', 200],
  [LISTED, 'GET /', 200],
  [SYSTEM, 'DELETE /x', 403],
  [SYSTEM, 'GET /x', 200],
  [OTHER, 'DELETE /x', 200],
  [OTHER, 'POST /admin/x', 403],
  [OTHER, 'GET /admin/x', 200],
  [OTHER, 'POST /x', 200],
];

/** A host and a port with rules of kinds that need more than an address: lists, systems, paths and methods. */
export class KeptRules {
  private port = 0;

  async fill(admin: JsonClient, clientId: number, origin: URL): Promise<void> {
    await this.addList(admin);
    const host = await must(admin('POST', '/hosts', { client_id: clientId, host: HOST, target_addr: origin.origin }));
    const ofHost = { scope: 'host', resource_id: host.id, type: 'deny' };
    await must(admin('POST', '/ip-rules', { ...ofHost, pattern_kind: 'list', pattern: 'kept', paths: ['/office'] }));
    await must(admin('POST', '/ip-rules', { ...ofHost, pattern_kind: 'asn', pattern: 'AS64501', methods: ['DELETE'] }));
    const onlyRequests = { pattern_kind: 'any', pattern: '*', paths: ['/admin'], methods: ['POST'] };
    await must(admin('POST', '/ip-rules', { ...ofHost, ...onlyRequests }));
    const place = { mode: 'tcp', listen_ip: '127.0.0.1', listen_port: 0, accept_proxy_protocol: true };
    const tunnel = await must(admin('POST', '/tunnels', { client_id: clientId, target_addr: origin.host, ...place }));
    this.port = tunnel.listen_port;
    const ofTunnel = { scope: 'tunnel', resource_id: tunnel.id, type: 'deny' };
    await must(admin('POST', '/ip-rules', { ...ofTunnel, pattern_kind: 'list', pattern: 'kept' }));
  }

  /** Waits until the edge serves and has the rules, and compares every answer. */
  async act(httpPort: number): Promise<void> {
    await waitFor(async () => (await visitHost(httpPort, OTHER, 'GET /')) === 200, { timeoutMs: 60_000 });
    await waitFor(async () => (await visitHost(httpPort, LISTED, 'GET /office/x')) === 403);
    const answers = await Promise.all(
      REQUESTS.map(async ([address, request]) => [address, request, await visitHost(httpPort, address, request)]),
    );
    expect(answers).toEqual(REQUESTS);
    await waitFor(async () => (await this.visitPort(OTHER)) === 200);
    expect(await this.visitPort(LISTED)).toBe(0);
    expect(await this.visitPort(SYSTEM)).toBe(200);
  }

  /** Its server is gone once the list was read: what acts later is what was kept. */
  private async addList(admin: JsonClient): Promise<void> {
    const server = createServer((_, response) => response.end(`${LISTED}\n`)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/kept.txt`;
      const { id } = await must(admin('POST', '/address-lists', { name: 'kept', url, allow_private: true }));
      await waitFor(async () => (await must(admin('GET', `/address-lists/${id}`))).entries === 1);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }

  private visitPort(address: string): Promise<number> {
    return ask(this.port, `PROXY TCP4 ${address} 127.0.0.1 4000 5000\r\nGET / HTTP/1.1\r\nHost: ${HOST}`);
  }
}

function visitHost(port: number, address: string, request: string): Promise<number> {
  return ask(port, `${request} HTTP/1.1\r\nHost: ${HOST}\r\nContent-Length: 0\r\nX-Forwarded-For: ${address}`);
}

/** The status of an answer; 0: there was none. */
async function ask(port: number, head: string): Promise<number> {
  const socket = connect(port, '127.0.0.1');
  socket.setTimeout(20_000, () => socket.destroy());
  socket.write(`${head}\r\nConnection: close\r\n\r\n`);
  return Number((await text(socket).catch(() => '')).slice(9, 12));
}
