import { isIP } from 'node:net';
import { parseControlEndpoint } from '@gatehouse/net';
import { loadSecretKeys } from '@gatehouse/persistence';
import { JsonLogger, ProxyClientsServer, StartError } from '@gatehouse/platform';
import type { AcceptedConnection, ProxyClients } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { ProxyGatewaySettings } from '../settings.js';
import { KernelService } from './kernel.service.js';

/** The addresses of the kernel's machine may change while it runs. */
const RENEW_MS = 60_000;

/**
 * Finds the client of the proxy that the kernel opened a connection for: for this service, and over
 * PROXY_CLIENTS_CHANNEL for the platform's other services.
 */
@Injectable()
export class KernelClients implements ProxyClients, OnApplicationBootstrap, OnApplicationShutdown {
  /** Null: the kernel was started by this service and has the addresses of this machine. */
  kernelAddresses: ReadonlySet<string> | null;
  private server: ProxyClientsServer | undefined;
  private renewal: NodeJS.Timeout | undefined;

  constructor(
    private readonly kernel: KernelService,
    private readonly settings: ProxyGatewaySettings,
    private readonly logger: JsonLogger,
  ) {
    this.kernelAddresses = kernel.runsElsewhere ? null : new Set();
  }

  /** @throws StartError when the address of PROXY_CLIENTS_CHANNEL cannot be listened on. */
  async onApplicationBootstrap(): Promise<void> {
    await this.listen();
    if (!this.kernel.runsElsewhere) return;
    this.kernel.onStarted(() => this.renew());
    this.renewal = setInterval(() => void this.renew(), RENEW_MS).unref();
    await this.renew();
  }

  async onApplicationShutdown(): Promise<void> {
    clearInterval(this.renewal);
    await this.server?.close();
  }

  clientOf(connection: AcceptedConnection): Promise<string | null> {
    return this.kernel.clientOf(connection);
  }

  private async listen(): Promise<void> {
    const { proxyClientsChannel = '', home, secretKey: envValue } = this.settings;
    const endpoint = parseControlEndpoint(proxyClientsChannel);
    if (endpoint === null) return;
    const secretKeys = loadSecretKeys({ home, envValue });
    this.server = new ProxyClientsServer({ clients: this, secretKeys, logger: this.logger });
    await this.server.listen(endpoint).catch((error: unknown) => {
      throw new StartError(
        `PROXY_CLIENTS_CHANNEL: ${proxyClientsChannel} cannot be listened on`,
        `PROXY_CLIENTS_CHANNEL: 无法监听 ${proxyClientsChannel}`,
        { cause: error },
      );
    });
  }

  /** If the kernel does not answer, the last known addresses stay. One of an older version cannot report any. */
  private async renew(): Promise<void> {
    const addresses = await this.kernel.addresses().catch(() => undefined);
    if (!Array.isArray(addresses)) return;
    this.kernelAddresses = new Set(addresses.filter((address) => isIP(address) !== 0));
    this.server?.announce();
  }
}
