import { isIP } from 'node:net';
import {
  dialControl,
  formatControlEndpoint,
  parseControlEndpoint,
  type ControlEndpoint,
  type ControlLink,
} from '@gatehouse/net';
import type { FactoryProvider, OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { JsonLogger } from '../logging/json-logger.js';
import type { ServiceSettings } from '../settings/service-settings.js';
import {
  CLIENTS_LINK_LIMITS,
  MAX_QUESTIONS,
  proxyClientsKey,
  type ClientAnswer,
  type ClientQuestion,
} from './clients-channel.js';
import type { AcceptedConnection, ProxyClients } from './proxy-clients.js';

const ANSWER_MS = 2_000;
/** Waits between attempts to reach proxy-gateway; the last one is repeated. */
const RETRY_MS = [100, 250, 500, 1_000, 2_000, 5_000];
/**
 * Number of consecutive failures before a log line, because services that start together become ready one after
 * another.
 */
const WORTH_A_LINE = RETRY_MS.length;

export interface RemoteProxyClientsParts {
  readonly endpoint: ControlEndpoint;
  /** Newest first; proxy-gateway may still use an older one. */
  readonly secretKeys: readonly Buffer[];
  readonly logger: JsonLogger;
  /** Default: `RETRY_MS`. */
  readonly retryMs?: readonly number[];
}

interface Waiting {
  readonly resolve: (client: string | null) => void;
  readonly reject: (error: Error) => void;
  readonly timer: NodeJS.Timeout;
}

/** For a service other than proxy-gateway: `RemoteProxyClients`, or null without PROXY_CLIENTS_CHANNEL. */
export function remoteProxyClients(
  { proxyClientsChannel }: Readonly<Pick<ServiceSettings, 'proxyClientsChannel'>>,
  secretKeys: readonly Buffer[],
): FactoryProvider<RemoteProxyClients | null> {
  const endpoint = parseControlEndpoint(proxyClientsChannel ?? '');
  return {
    provide: RemoteProxyClients,
    inject: [JsonLogger],
    useFactory: (logger: JsonLogger) => endpoint && new RemoteProxyClients({ endpoint, secretKeys, logger }),
  };
}

/** Asks proxy-gateway for the clients behind connections of its kernel. Without a connection to it, questions fail at once. */
export class RemoteProxyClients implements ProxyClients, OnModuleInit, OnApplicationShutdown {
  kernelAddresses: ReadonlySet<string> | null = new Set();
  private readonly parts: RemoteProxyClientsParts;
  private readonly waiting = new Map<number, Waiting>();
  private readonly stopping = new AbortController();
  private link: ControlLink | undefined;
  private retry: NodeJS.Timeout | undefined;
  private failed = 0;
  private nextId = 1;

  constructor(parts: RemoteProxyClientsParts) {
    this.parts = parts;
  }

  /** Does not wait: the service starts whether proxy-gateway is running or not. */
  onModuleInit(): void {
    void this.connect();
  }

  onApplicationShutdown(): void {
    this.stopping.abort();
    clearTimeout(this.retry);
    this.link?.close();
  }

  /** @throws Error without a connection to proxy-gateway, and if it does not answer within two seconds */
  clientOf(connection: AcceptedConnection): Promise<string | null> {
    const { link, waiting } = this;
    if (link === undefined) return Promise.reject(new Error('proxy-gateway cannot be reached'));
    if (waiting.size >= MAX_QUESTIONS) return Promise.reject(new Error('proxy-gateway has been asked too much'));
    return new Promise((resolve, reject) => {
      const id = this.nextId++;
      const timer = setTimeout(() => this.fail(id, `proxy-gateway did not answer within ${ANSWER_MS} ms`), ANSWER_MS);
      waiting.set(id, { resolve, reject, timer });
      const question: ClientQuestion = { type: 'clientOf', id, connection };
      link.send(question).catch((error: Error) => this.fail(id, error.message));
    });
  }

  private async connect(): Promise<void> {
    const { endpoint, secretKeys } = this.parts;
    const { signal } = this.stopping;
    try {
      const key = secretKeys[this.failed % secretKeys.length];
      if (key === undefined) throw new RangeError('there is no secret key');
      this.connected(await dialControl({ endpoint, key: proxyClientsKey(key), signal, limits: CLIENTS_LINK_LIMITS }));
    } catch (error) {
      this.lost(error as Error);
    }
  }

  private connected(link: ControlLink): void {
    if (this.stopping.signal.aborted) return link.close();
    if (this.failed >= WORTH_A_LINE) this.log('proxy-gateway says again who comes through the proxy');
    this.failed = 0;
    this.link = link;
    link.onMessage((message) => this.receive(message as ClientAnswer));
    link.onClose((reason) => {
      this.link = undefined;
      for (const id of this.waiting.keys()) this.fail(id, 'the connection to proxy-gateway ended');
      this.lost(reason ?? new Error('it closed the connection'));
    });
  }

  private lost(reason: Error): void {
    if (this.stopping.signal.aborted) return;
    const { retryMs = RETRY_MS } = this.parts;
    const wait = retryMs[Math.min(this.failed, retryMs.length - 1)];
    this.failed += 1;
    if (this.failed === WORTH_A_LINE) {
      const place = formatControlEndpoint(this.parts.endpoint);
      const message = 'proxy-gateway cannot be asked who comes through the proxy: until it can, they share one address';
      this.parts.logger.warn(message, { channel: place, error: reason.message }, 'ProxyClients');
    }
    this.retry = setTimeout(() => void this.connect(), wait);
    this.retry.unref();
  }

  private receive(message: ClientAnswer): void {
    if (message.type === 'kernel') {
      this.kernelAddresses = message.addresses === null ? null : new Set(message.addresses);
      return;
    }
    const { id } = message;
    if (message.type === 'unavailable') return this.fail(id, message.reason);
    const { client } = message;
    if (client !== null && isIP(client) === 0) return this.fail(id, 'proxy-gateway answered with something else');
    this.settle(id)?.resolve(client);
  }

  private fail(id: number, reason: string): void {
    this.settle(id)?.reject(new Error(reason));
  }

  private settle(id: number): Waiting | undefined {
    const waiting = this.waiting.get(id);
    clearTimeout(waiting?.timer);
    this.waiting.delete(id);
    return waiting;
  }

  private log(message: string): void {
    this.parts.logger.log(message, 'ProxyClients');
  }
}
