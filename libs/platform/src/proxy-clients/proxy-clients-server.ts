import { isIP } from 'node:net';
import { dirname } from 'node:path';
import { ControlServer, makePrivateFolder, type ControlEndpoint, type ControlLink } from '@gatehouse/net';
import type { JsonLogger } from '../logging/json-logger.js';
import {
  CLIENTS_LINK_LIMITS,
  MAX_KERNEL_ADDRESSES,
  MAX_QUESTIONS,
  proxyClientsKey,
  type ClientAnswer,
  type ClientQuestion,
} from './clients-channel.js';
import type { ConnectionEnd, ProxyClients } from './proxy-clients.js';

export interface ProxyClientsServerParts {
  readonly clients: ProxyClients;
  /** Newest first. */
  readonly secretKeys: readonly Buffer[];
  readonly logger: JsonLogger;
}

/**
 * Answers the platform's other services which client of the proxy is behind a connection that they have accepted. It
 * answers for one connection at a time, and does nothing else.
 */
export class ProxyClientsServer {
  private readonly clients: ProxyClients;
  private readonly server: ControlServer;
  private readonly links = new Set<ControlLink>();

  constructor({ clients, secretKeys, logger }: ProxyClientsServerParts) {
    this.clients = clients;
    this.server = new ControlServer({
      keys: secretKeys.map(proxyClientsKey),
      limits: CLIENTS_LINK_LIMITS,
      onLink: (link) => this.serve(link),
      onRefused: (error) =>
        logger.warn('a connection to PROXY_CLIENTS_CHANNEL was refused', { error: error.message }, 'ProxyClients'),
    });
  }

  /** The address on which it listens. @throws Error of `listen` */
  async listen(endpoint: ControlEndpoint): Promise<ControlEndpoint> {
    if ('path' in endpoint) makePrivateFolder(dirname(endpoint.path));
    return this.server.listen(endpoint);
  }

  /** Sends the addresses from which the kernel connects; must be called when they change. */
  announce(): void {
    for (const link of this.links) send(link, this.greeting());
  }

  async close(): Promise<void> {
    await this.server.close();
  }

  private greeting(): ClientAnswer {
    const { kernelAddresses } = this.clients;
    const addresses = kernelAddresses === null ? null : [...kernelAddresses].slice(0, MAX_KERNEL_ADDRESSES);
    return { type: 'kernel', addresses };
  }

  private serve(link: ControlLink): void {
    let unanswered = 0;
    this.links.add(link);
    link.onClose(() => this.links.delete(link));
    link.onMessage((message) => {
      if (!isQuestion(message) || unanswered >= MAX_QUESTIONS) return link.close();
      unanswered += 1;
      void this.answer(message).then((answer) => {
        unanswered -= 1;
        send(link, answer);
      });
    });
    send(link, this.greeting());
  }

  private async answer({ id, connection }: ClientQuestion): Promise<ClientAnswer> {
    try {
      return { type: 'client', id, client: await this.clients.clientOf(connection) };
    } catch (error) {
      return { type: 'unavailable', id, reason: error instanceof Error ? error.message : 'the kernel does not answer' };
    }
  }
}

/** A link that has ended in the meantime needs no answer. */
function send(link: ControlLink, answer: ClientAnswer): void {
  void link.send(answer).catch(() => undefined);
}

function isQuestion(message: unknown): message is ClientQuestion {
  const { type, id, connection } = (message ?? {}) as Partial<ClientQuestion>;
  const { from, to, ageMs } = (connection ?? {}) as Partial<ClientQuestion['connection']>;
  return type === 'clientOf' && Number.isSafeInteger(id) && isEnd(from) && isEnd(to) && isAge(ageMs);
}

function isEnd(end: ConnectionEnd | undefined): boolean {
  const { address, port } = end ?? {};
  if (typeof address !== 'string' || isIP(address) === 0) return false;
  return Number.isInteger(port) && Number(port) > 0 && Number(port) <= 65_535;
}

function isAge(ms: number | undefined): boolean {
  return typeof ms === 'number' && ms >= 0;
}
