import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { ProxyNode } from '@gatehouse/contracts';
import { createProxyKernel, type ConnectionRecord, type ProxyKernel } from '@gatehouse/proxy-kernel';
import { expect } from 'vitest';

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const resolver = { resolve: () => Promise.resolve(['127.0.0.1']) };

/** A kernel whose flows go through one of several nodes, and targets for them. */
export class NodeRig {
  readonly records: ConnectionRecord[] = [];
  readonly #kernel: ProxyKernel;
  readonly #servers: (Server | UdpSocket)[] = [];
  readonly #sockets = new Set<Socket>();
  #proxyPort = 0;

  private constructor(kernel: ProxyKernel) {
    this.#kernel = kernel;
    kernel.on('closed', (record) => this.records.push(record));
  }

  static async start(nodes: ReadonlyMap<string, ProxyNode>): Promise<NodeRig> {
    const rig = new NodeRig(createProxyKernel({ now: Date.now, logger: quiet, resolver, country: () => null }));
    const { listeners } = await rig.#kernel.apply({
      mode: 'rule',
      listeners: [{ name: 'mixed', type: 'mixed', address: '127.0.0.1', port: 0 }],
      outbounds: [...nodes].map(([tag, node]) => ({ tag, node })),
      groups: [{ name: 'PROXY', type: 'select', members: [...nodes.keys()] }],
      rules: [],
      defaultPolicy: 'PROXY',
    });
    rig.#proxyPort = listeners[0]?.port ?? 0;
    return rig;
  }

  get proxyPort(): number {
    return this.#proxyPort;
  }

  /** What follows goes through this node. */
  use(tag: string): void {
    this.records.length = 0;
    this.#kernel.select('PROXY', tag);
  }

  /** The record of the one flow since `use`, once it has ended. */
  async record(): Promise<ConnectionRecord> {
    await expect.poll(() => this.records.length, { timeout: 10_000 }).toBe(1);
    return this.records[0] as ConnectionRecord;
  }

  /** A TCP target; its port. */
  async listen(onSocket: (socket: Socket) => void): Promise<number> {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => this.#sockets.delete(socket));
      onSocket(socket);
    });
    this.#servers.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  }

  /** A UDP target that puts `prefix` before what it sends back; its port. */
  async udpEcho(prefix: string): Promise<number> {
    const socket = createSocket('udp4');
    this.#servers.push(socket);
    socket.on('message', (bytes, { port, address }) =>
      socket.send(Buffer.concat([Buffer.from(prefix), bytes]), port, address),
    );
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return socket.address().port;
  }

  async close(): Promise<void> {
    await this.#kernel.close();
    for (const socket of this.#sockets) socket.destroy();
    for (const server of this.#servers) server.close();
  }
}
