import { once } from 'node:events';
import net from 'node:net';
import { relay } from '@gatehouse/net';
import {
  ShadowsocksStream,
  aeadMethod,
  aeadSession,
  decodeAddress,
  masterKey,
  type ShadowsocksKeys,
} from '@gatehouse/proxy-kernel';

export interface ShadowsocksServerOptions {
  method: string;
  password: string;
  /** Names this server knows and nobody else, with their addresses. Nothing else is dialled but loopback. */
  hosts: Record<string, string>;
  /** Its own address. Default: 127.0.0.1. */
  listen?: string;
}

const HANDSHAKE_TIMEOUT_MS = 10_000;
/** SOCKS address of the longest name: type, length, 255 bytes, port. */
const LONGEST_ADDRESS = 1 + 1 + 255 + 2;

/** A Shadowsocks AEAD server for TCP on a free port, for the tour only: it leads to loopback and nowhere else. */
export class ShadowsocksServer {
  readonly port: number;
  readonly method: string;
  readonly password: string;
  readonly #server: net.Server;
  readonly #sockets = new Set<net.Socket>();

  private constructor(server: net.Server, options: ShadowsocksServerOptions) {
    this.#server = server;
    this.method = options.method;
    this.password = options.password;
    this.port = (server.address() as net.AddressInfo).port;
  }

  static async start(options: ShadowsocksServerOptions): Promise<ShadowsocksServer> {
    const method = aeadMethod(options.method);
    const keys = { method, master: masterKey(options.password, method.keyLength) };
    const server = net.createServer({ allowHalfOpen: true, pauseOnConnect: true });
    server.listen(0, options.listen ?? '127.0.0.1');
    await once(server, 'listening');
    const running = new ShadowsocksServer(server, options);
    server.on('connection', (socket) => running.#accept(socket, keys, options.hosts));
    return running;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #accept(socket: net.Socket, keys: ShadowsocksKeys, hosts: Record<string, string>): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.setTimeout(HANDSHAKE_TIMEOUT_MS, () => socket.destroy());
    const client = new ShadowsocksStream(socket, aeadSession(keys, Buffer.alloc(0)));
    client.on('error', () => client.destroy());
    let received = Buffer.alloc(0);
    const onData = (chunk: Buffer): void => {
      received = Buffer.concat([received, chunk]);
      const address = decodeAddress(received);
      if (address === null) {
        if (received.length > LONGEST_ADDRESS) client.destroy();
        return;
      }
      client.pause();
      client.off('data', onData);
      socket.setTimeout(0);
      lead(
        client,
        hosts[address.target.host] ?? address.target.host,
        address.target.port,
        received.subarray(address.end),
      );
    };
    client.on('data', onData);
    client.resume();
  }
}

function lead(client: ShadowsocksStream, host: string, port: number, head: Buffer): void {
  if (!host.startsWith('127.')) {
    client.destroy();
    return;
  }
  const remote = net.connect({ host, port, allowHalfOpen: true });
  remote.pause();
  const refuse = (): void => client.destroy();
  remote.once('error', refuse);
  remote.once('connect', () => {
    remote.off('error', refuse);
    relay(client, remote, { upload: 0, download: 0 }, { head });
  });
}
