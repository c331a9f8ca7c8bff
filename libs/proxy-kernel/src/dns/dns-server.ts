import type { RemoteInfo, Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6, type AddressInfo, type Server, type Socket } from 'node:net';
import { createTcpServer, createUdpSocket, guardPromise } from '@gatehouse/net';
import type { DnsListenConfig } from '../interfaces/config.js';
import type { KernelLogger, ListenerState } from '../interfaces/kernel.js';
import { ClientLimits, DEFAULT_DNS_LIMITS, type DnsLimits } from './client-limits.js';
import { DnsMessageError } from './message-reader.js';
import {
  CODE,
  type DnsQuery,
  DnsQueryError,
  decodeQuery,
  encodeAnswer,
  encodeRefusal,
  truncated,
  udpLimit,
} from './query-message.js';
import { type DnsSource, answerAtHand, replyTo } from './responder.js';
import { serveStream } from './tcp-questions.js';

export interface DnsServerOptions {
  /** Null: no question is answered. */
  source: () => DnsSource | null;
  logger: KernelLogger;
  limits?: DnsLimits;
  /** Whether other processes listen on the same port. */
  shared?: boolean;
}

const NAME = 'dns';
const MAX_CONNECTIONS = 512;
const MAX_CONNECTIONS_PER_CLIENT = 64;
/** The most bytes of unsent replies; further ones are dropped, as the network would. */
const MAX_UNSENT = 4 * 1024 * 1024;
/** If the system chooses the port, it may be free for one protocol but taken for the other. */
const PORT_ATTEMPTS = 10;
const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/;

/** Answers questions over UDP and TCP on one port (RFC 1035 4.2, RFC 7766). */
export class DnsServer {
  readonly config: DnsListenConfig;
  readonly #options: DnsServerOptions;
  readonly #limits: ClientLimits;
  readonly #connections = new Map<Socket, string>();
  #tcp: Server | null = null;
  #udp: UdpSocket | null = null;
  #port = 0;
  #failure: string | null = null;
  /** Whether questions can come from other machines, and so with forged addresses. */
  #isOpen = true;

  constructor(config: DnsListenConfig, options: DnsServerOptions) {
    this.config = config;
    this.#options = options;
    this.#limits = new ClientLimits(options.limits ?? DEFAULT_DNS_LIMITS, () => performance.now());
  }

  /** The port that was bound, also while closed. */
  get port(): number {
    return this.#port || this.config.port;
  }

  get listening(): boolean {
    return this.#udp !== null;
  }

  get state(): ListenerState {
    const state = this.#failure === null ? 'listening' : 'failed';
    return { name: NAME, type: NAME, address: this.config.address, port: this.port, state, error: this.#failure };
  }

  /**
   * Binds the address; may be called again after `close`. @throws Error of `bind` (EADDRINUSE, EACCES, EADDRNOTAVAIL).
   */
  async listen(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#listenOnce(this.port);
      } catch (error) {
        await this.close();
        const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
        if (!isTaken || this.port !== 0 || attempt >= PORT_ATTEMPTS) throw error;
      }
    }
  }

  fail(error: Error): void {
    this.#failure = error.message;
  }

  /** Releases the address; questions under way get no answer. */
  async close(): Promise<void> {
    const [tcp, udp] = [this.#tcp, this.#udp];
    this.#tcp = this.#udp = null;
    for (const socket of this.#connections.keys()) socket.destroy();
    await Promise.all([
      new Promise<void>((resolve) => (tcp ? tcp.close(() => resolve()) : resolve())),
      new Promise<void>((resolve) => (udp ? udp.close(resolve) : resolve())),
    ]);
  }

  async #listenOnce(port: number): Promise<void> {
    const { address } = this.config;
    const { shared: reusePort = false } = this.#options;
    const tcp = createTcpServer({ allowHalfOpen: true, noDelay: true }, (socket) => this.#accept(socket));
    tcp.maxConnections = MAX_CONNECTIONS;
    this.#tcp = tcp;
    tcp.listen({ host: address, port, reusePort });
    await once(tcp, 'listening');
    tcp.on('error', (error) => this.fail(error));
    const { port: bound, address: own } = tcp.address() as AddressInfo;
    this.#isOpen = !LOOPBACK.test(own);
    const udp = createUdpSocket({ type: isIPv6(address) ? 'udp6' : 'udp4', reusePort });
    this.#udp = udp;
    udp.bind(bound, address);
    await once(udp, 'listening');
    udp.on('error', (error) => this.fail(error));
    udp.on('message', (message, from) => this.#datagram(udp, message, from));
    this.#port = bound;
    this.#failure = null;
  }

  #datagram(udp: UdpSocket, message: Buffer, from: RemoteInfo): void {
    // No reply: the sender's address may be forged, and every reply would go to its owner.
    if (from.port === 0 || !this.#limits.admits(from.address)) return;
    const send = (reply: Buffer | null): void => {
      if (reply === null || udp !== this.#udp || udp.getSendQueueSize() > MAX_UNSENT) return;
      const isDue = !this.#isOpen || this.#limits.affords(from.address, reply.length);
      // A real client asks again over TCP; for a forged address the reply is no larger than the question.
      udp.send(isDue ? reply : truncated(reply), from.port, from.address, (error) => {
        if (error)
          this.#options.logger.debug('a DNS reply was not sent', { client: from.address, error: error.message });
      });
    };
    const reply = this.#answer(message, from.address, udpLimit);
    if (reply instanceof Promise) guardPromise(null, reply.then(send));
    else send(reply);
  }

  #accept(socket: Socket): void {
    const client = socket.remoteAddress ?? '';
    socket.on('error', () => undefined);
    const open = [...this.#connections.values()].filter((address) => address === client);
    if (client === '' || open.length >= MAX_CONNECTIONS_PER_CLIENT) return void socket.destroy();
    this.#connections.set(socket, client);
    socket.on('close', () => this.#connections.delete(socket));
    serveStream(socket, (message) => {
      if (!this.#limits.admits(client)) return null;
      return this.#answer(message, client, () => 0xffff);
    });
  }

  /** Null: no reply. Never rejects. */
  #answer(message: Buffer, client: string, limitOf: (query: DnsQuery) => number): Promise<Buffer> | Buffer | null {
    try {
      const query = decodeQuery(message);
      const source = this.#options.source();
      if (!source) return null;
      const limit = limitOf(query);
      const known = answerAtHand(query, source);
      if (known) return encodeAnswer(query, known, limit);
      const asking = this.#limits.run(client, () => replyTo(query, source, limit));
      if (!asking) return encodeAnswer(query, { code: CODE.refused }, limit);
      return asking.catch((error: unknown) => this.#failed(query, error, limit));
    } catch (error) {
      if (error instanceof DnsQueryError) return encodeRefusal(error);
      if (error instanceof DnsMessageError) return null;
      throw error;
    }
  }

  #failed(query: DnsQuery, error: unknown, limit: number): Buffer {
    const reason = error instanceof Error ? error.message : String(error);
    this.#options.logger.debug('a DNS question was not answered', { name: query.name, type: query.type, reason });
    return encodeAnswer(query, { code: CODE.failure }, limit);
  }
}
