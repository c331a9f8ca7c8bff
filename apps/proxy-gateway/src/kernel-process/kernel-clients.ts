import { isIP } from 'node:net';
import { parseControlEndpoint } from '@gatehouse/net';
import { loadSecretKeys } from '@gatehouse/persistence';
import { JsonLogger, ProxyClientsServer, StartError } from '@gatehouse/platform';
import type { AcceptedConnection, ProxyClients } from '@gatehouse/platform';
import { Injectable } from '@nestjs/common';
import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { ProxyGatewaySettings } from '../settings.js';
import { KernelService } from './kernel.service.js';

/** The kernel's machine may get other addresses while it runs. */
const RENEW_MS = 60_000;

/**
 * Says for which client of the proxy the kernel opened a connection: to this service, and over PROXY_CLIENTS_CHANNEL to
 * the other services of the platform.
 */
@Injectable()
export class KernelClients implements ProxyClients, OnApplicationBootstrap, OnApplicationShutdown {
  /** A kernel that this service has started has the addresses of this machine alone. */
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

  /** @throws StartError when PROXY_CLIENTS_CHANNEL cannot be listened on. */
  async onApplicationBootstrap(): Promise<void> {
    await this.listen();
    if (!this.kernel.runsElsewhere) return;
    this.kernel.onNewborn(() => this.renew());
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
      throw new StartError(`PROXY_CLIENTS_CHANNEL: ${proxyClientsChannel} cannot be listened on`, { cause: error });
    });
  }

  /** A kernel that does not answer keeps the addresses it had; one of an older version has none to tell. */
  private async renew(): Promise<void> {
    const addresses = await this.kernel.addresses().catch(() => undefined);
    if (!Array.isArray(addresses)) return;
    this.kernelAddresses = new Set(addresses.filter((address) => isIP(address) !== 0));
    this.server?.announce();
  }
}
