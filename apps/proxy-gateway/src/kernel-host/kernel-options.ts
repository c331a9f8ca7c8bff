import type { DnsConfig, KernelMode, ListenerConfig } from '@gatehouse/proxy-kernel';
import { Injectable } from '@nestjs/common';
import { Preferences } from '../preferences/preferences.service.js';
import { ProxyGatewaySettings } from '../settings.js';

/** What of a kernel configuration settings and environment say. */
@Injectable()
export class KernelOptions {
  constructor(
    private readonly preferences: Preferences,
    private readonly settings: ProxyGatewaySettings,
  ) {}

  get routingMode(): KernelMode {
    return this.preferences.get('routing.mode');
  }

  /** Milliseconds, for groups that say nothing of their own. */
  get toleranceMs(): number {
    return this.preferences.get('health.tolerance_ms');
  }

  /** Nothing where nobody set anything: the operating system resolves. */
  dns(): { dns?: DnsConfig } {
    const [nameservers, bootstrap] = [this.preferences.get('dns.nameservers'), this.preferences.get('dns.bootstrap')];
    const [policy, hosts] = [this.preferences.get('dns.policy'), this.preferences.get('dns.hosts')];
    const entries = [nameservers, Object.keys(policy), Object.keys(hosts)];
    if (entries.every(({ length }) => length === 0)) return {};
    return {
      dns: {
        nameservers: nameservers.length > 0 ? nameservers : ['system'],
        ...(bootstrap.length > 0 && { bootstrap }),
        policy,
        hosts,
      },
    };
  }

  listeners(): ListenerConfig[] {
    const mixed = this.preferences.get('kernel.listen.mixed') ?? { address: null, port: this.settings.kernelPort };
    const http = this.preferences.get('kernel.listen.http');
    const socks = this.preferences.get('kernel.listen.socks');
    return [
      this.listener('mixed', mixed),
      ...(http ? [this.listener('http', http)] : []),
      ...(socks ? [this.listener('socks', socks)] : []),
    ];
  }

  private listener(type: ListenerConfig['type'], chosen: { address: string | null; port: number }): ListenerConfig {
    const everywhere = this.preferences.get('kernel.allow_lan');
    const users = this.preferences.get('kernel.users');
    return {
      name: type,
      type,
      address: chosen.address ?? (everywhere ? '0.0.0.0' : this.settings.kernelAddress),
      port: chosen.port,
      ...(users.length > 0 && { users }),
    };
  }
}
