import { Injectable, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { formatHostPort } from '@gatehouse/net';
import { InternalUser } from '../kernel-config/internal-user.js';
import { usersOfProxy } from '../kernel-config/kernel-options.js';
import { KernelService } from '../kernel-process/kernel.service.js';
import { Preferences } from '../preferences/preferences.service.js';
import { KernelMode } from '../kernel-config/kernel-mode.js';
import { ProxyGatewaySettings } from '../settings.js';
import type { FetchProxy } from './subscription-fetcher.js';

/** Those whose traffic the rules decide, unlike the ports of groups. */
const SERVING_HTTP: ReadonlySet<string> = new Set(['mixed', 'http']);

/** Finds the address where our own kernel accepts HTTP proxy connections, for code in this process or in the worker. */
@Injectable()
export class KernelProxyAddress {
  constructor(
    private readonly modules: ModuleRef,
    private readonly preferences: Preferences,
    private readonly settings: ProxyGatewaySettings,
    private readonly internalUser: InternalUser,
  ) {}

  /** Null if the kernel is not listening, as far as this process can know. */
  async find(): Promise<FetchProxy | null> {
    const url = await this.url();
    return url === null ? null : { url, guardsTargets: this.isEmbedded() };
  }

  private async url(): Promise<string | null> {
    const kernel = this.inThisProcess(KernelService);
    if (!kernel) return this.configured();
    try {
      const { listeners } = await kernel.status();
      const open = listeners.find(({ name, state }) => state === 'listening' && SERVING_HTTP.has(name));
      return open ? await this.toUrl(open.address, open.port) : null;
    } catch {
      // A kernel that is restarting accepts no connections.
      return null;
    }
  }

  /** The worker's process has no kernel of its own, so it uses the address from the settings. */
  private async configured(): Promise<string | null> {
    const chosen = this.preferences.get('kernel.listen.mixed');
    const port = chosen?.port ?? this.settings.kernelPort;
    return port === 0 ? null : this.toUrl(chosen?.address ?? this.settings.kernelAddress, port);
  }

  /** Only the service's process knows which kernel runs; elsewhere mihomo must be assumed possible. */
  private isEmbedded(): boolean {
    return this.settings.mihomo === '' || this.inThisProcess(KernelMode)?.get() === 'embedded';
  }

  private inThisProcess<Part>(type: Type<Part>): Part | null {
    try {
      return this.modules.get(type, { strict: false });
    } catch {
      return null;
    }
  }

  /**
   * A kernel on another machine is reached at the host from the environment, and one that listens on all addresses over
   * loopback. If the kernel requires a user, any of the settings will do; users that are rows may have limits.
   */
  private async toUrl(address: string, port: number): Promise<string> {
    const here = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
    const host = this.settings.kernelHost === '' ? here : this.settings.kernelHost;
    const [own] = usersOfProxy(this.preferences, this.settings);
    const user = own ?? (await this.internalUser.ifNeeded());
    const credentials = user ? `${encodeURIComponent(user.username)}:${encodeURIComponent(user.password)}@` : '';
    return `http://${credentials}${formatHostPort(host, port)}`;
  }
}
