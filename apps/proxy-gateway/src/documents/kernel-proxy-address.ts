import { Injectable, type Type } from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import { usersOfProxy } from '../kernel-config/kernel-options.js';
import { KernelService } from '../kernel-process/kernel.service.js';
import { Preferences } from '../preferences/preferences.service.js';
import { KernelMode } from '../kernel-config/kernel-mode.js';
import { ProxyGatewaySettings } from '../settings.js';
import type { FetchProxy } from './subscription-fetcher.js';

/** Where our own kernel takes HTTP proxy connections, for whoever in this or the worker's process wants to go through it. */
@Injectable()
export class KernelProxyAddress {
  constructor(
    private readonly modules: ModuleRef,
    private readonly preferences: Preferences,
    private readonly settings: ProxyGatewaySettings,
  ) {}

  /** Null where the kernel does not listen, as far as this process can know. */
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
      // A kernel that is being restarted takes no connections.
      return null;
    }
  }

  /** The worker's process has no kernel of its own; it goes by what the service's is told to listen on. */
  private configured(): string | null {
    const chosen = this.preferences.get('kernel.listen.mixed');
    const port = chosen?.port ?? this.settings.kernelPort;
    return port === 0 ? null : this.toUrl(chosen?.address ?? this.settings.kernelAddress, port);
  }

  /** What runs is known where it runs; elsewhere a machine with the other program may run it. */
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
   * A kernel on another machine is reached where the environment says, one that listens everywhere on loopback. Where the
   * kernel asks for a user, any of them will do.
   */
  private toUrl(address: string, port: number): string {
    const here = address === '0.0.0.0' ? '127.0.0.1' : address === '::' ? '::1' : address;
    const host = this.settings.kernelHost === '' ? here : this.settings.kernelHost;
    const [user] = usersOfProxy(this.preferences, this.settings);
    const credentials = user ? `${encodeURIComponent(user.username)}:${encodeURIComponent(user.password)}@` : '';
    return `http://${credentials}${host.includes(':') ? `[${host}]` : host}:${port}`;
  }
}
