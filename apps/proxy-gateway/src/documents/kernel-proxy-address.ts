import { Injectable, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { formatHostPort } from '@gatehouse/net';
import { usersOfProxy } from '../kernel-config/kernel-options.js';
import { KernelService } from '../kernel-process/kernel.service.js';
import { Preferences } from '../preferences/preferences.service.js';
import { KernelMode } from '../kernel-config/kernel-mode.js';
import { ProxyGatewaySettings } from '../settings.js';
import type { FetchProxy } from './subscription-fetcher.js';

/** Finds the address where our own kernel accepts HTTP proxy connections, for code in this process or in the worker. */
@Injectable()
export class KernelProxyAddress {
  constructor(
    private readonly modules: ModuleRef,
    private readonly preferences: Preferences,
    private readonly settings: ProxyGatewaySettings,
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
      const open = listeners.find(({ type, state }) => state === 'listening' && (type === 'mixed' || type === 'http'));
      return open ? this.toUrl(open.address, open.port) : null;
    } catch {
      // A kernel that is restarting accepts no connections.
      return null;
    }
  }

  /** The worker's process has no kernel of its own, so it uses the address from the settings. */
  private configured(): string | null {
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
   * loopback. If the kernel requires a user, any configured one will do.
   */
  private toUrl(address: string, port: number): string {
    const here = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
    const host = this.settings.kernelHost === '' ? here : this.settings.kernelHost;
    const [user] = usersOfProxy(this.preferences, this.settings);
    const credentials = user ? `${encodeURIComponent(user.username)}:${encodeURIComponent(user.password)}@` : '';
    return `http://${credentials}${formatHostPort(host, port)}`;
  }
}
