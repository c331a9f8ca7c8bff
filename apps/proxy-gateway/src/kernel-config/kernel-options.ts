import type {
  DnsConfig,
  GuardConfig,
  KernelMode,
  ListenerConfig,
  ProxyUserConfig,
  SniffingConfig,
} from '@gatehouse/proxy-kernel';
import { Injectable } from '@nestjs/common';
import type { ProfileOverlay } from '../data/profile.entity.js';
import { Preferences } from '../preferences/preferences.service.js';
import { OwnEndpoints } from './own-endpoints.js';
import type { ListenPlace } from '../common/kernel-figures.js';
import { ProxyGatewaySettings } from '../settings.js';

/** The kernel's own default. */
const SNIFFING_TIMEOUT_MS = 100;
const NO_OVERLAY: ProfileOverlay = { nameservers: [], bootstrap: [], policy: {}, hosts: {}, sniffingPorts: null };

/** @param wanted the setting `kernel.allow_private_targets`. */
export function refusesPrivateTargets(
  wanted: 'auto' | 'true' | 'false',
  { privateTargets }: Pick<ProxyGatewaySettings, 'privateTargets'>,
): boolean {
  return wanted === 'auto' ? privateTargets === 'refuse' : wanted === 'false';
}

/** The users of the proxy's listeners that are not rows: from the setting, or else from the environment. */
export function usersOfProxy(
  preferences: Pick<Preferences, 'get'>,
  { kernelUsers }: Pick<ProxyGatewaySettings, 'kernelUsers'>,
): { username: string; password: string }[] {
  const users = preferences.get('kernel.users');
  if (users.length > 0) return users;
  return kernelUsers.map((pair) => {
    const colon = pair.indexOf(':');
    return { username: pair.slice(0, colon), password: pair.slice(colon + 1) };
  });
}

/** The part of a kernel configuration that comes from the settings and the environment. */
@Injectable()
export class KernelOptions {
  constructor(
    private readonly preferences: Preferences,
    private readonly settings: ProxyGatewaySettings,
    private readonly own: OwnEndpoints,
  ) {}

  guard(): GuardConfig {
    const wanted = this.preferences.get('kernel.allow_private_targets');
    return { own: this.own.list(), refusePrivate: refusesPrivateTargets(wanted, this.settings) };
  }

  /** Calls back when `guard` covers more because the service has started to listen. */
  onListening(listener: () => void): void {
    this.own.onListening(listener);
  }

  get routingMode(): KernelMode {
    return this.preferences.get('routing.mode');
  }

  /** Milliseconds, for groups without a value of their own. */
  get toleranceMs(): number {
    return this.preferences.get('health.tolerance_ms');
  }

  /**
   * How names are resolved and searched for: by the settings, and by the active profile where they say nothing. Empty
   * if neither says anything: the operating system resolves names.
   */
  names(overlay: ProfileOverlay | null): { dns?: DnsConfig; sniffing?: SniffingConfig } {
    const ports = overlay?.sniffingPorts ?? null;
    return {
      ...this.dns(overlay ?? NO_OVERLAY),
      ...(ports && { sniffing: { ports, timeoutMs: SNIFFING_TIMEOUT_MS } }),
    };
  }

  private dns(overlay: ProfileOverlay): { dns?: DnsConfig } {
    const own = (key: 'dns.nameservers' | 'dns.bootstrap', theirs: string[]): string[] => {
      const chosen = this.preferences.get(key);
      return chosen.length > 0 ? chosen : theirs;
    };
    const nameservers = own('dns.nameservers', overlay.nameservers);
    const bootstrap = own('dns.bootstrap', overlay.bootstrap);
    const policy = { ...overlay.policy, ...this.preferences.get('dns.policy') };
    const hosts = { ...overlay.hosts, ...this.preferences.get('dns.hosts') };
    const offered = this.offeredDns();
    const entries = [nameservers, policy, hosts, offered].map((part) => Object.keys(part));
    if (entries.every(({ length }) => length === 0)) return {};
    return {
      dns: {
        nameservers: nameservers.length > 0 ? nameservers : ['system'],
        ...(bootstrap.length > 0 && { bootstrap }),
        policy,
        hosts,
        ...offered,
      },
    };
  }

  /** The name server for others: its address and its answers. */
  private offeredDns(): Pick<DnsConfig, 'listen' | 'fakeIp'> {
    const listen = this.preferences.get('dns.listen');
    const [range, filter] = [this.preferences.get('dns.fake_ip_range'), this.preferences.get('dns.fake_ip_filter')];
    return {
      ...(listen && { listen: { address: listen.address ?? this.addressFor(this.preferences), port: listen.port } }),
      ...(this.preferences.get('dns.fake_ip') && { fakeIp: { range, filter } }),
    };
  }

  /** The users of the settings and the environment. */
  users(): ProxyUserConfig[] {
    return usersOfProxy(this.preferences, this.settings);
  }

  /**
   * @param users those of every listener.
   * @param preferences the settings to use: the present ones, or some that are to be checked.
   */
  listeners(users: ProxyUserConfig[], preferences: Pick<Preferences, 'get'> = this.preferences): ListenerConfig[] {
    const mixed = preferences.get('kernel.listen.mixed') ?? { address: null, port: this.settings.kernelPort };
    const http = preferences.get('kernel.listen.http');
    const socks = preferences.get('kernel.listen.socks');
    const listener = (type: ListenerConfig['type'], chosen: typeof mixed, name: string = type): ListenerConfig => ({
      name,
      type,
      address: chosen.address ?? this.addressFor(preferences),
      port: chosen.port,
      ...(users.length > 0 && { users }),
    });
    return [
      listener('mixed', mixed),
      ...(http ? [listener('http', http)] : []),
      ...(socks ? [listener('socks', socks)] : []),
      ...preferences
        .get('kernel.listen.groups')
        .map(({ group, ...chosen }) => ({ ...listener('mixed', chosen, `group-${group}`), group })),
    ];
  }

  /** Every address that a kernel listens on with these settings, by the name of its setting. */
  places(preferences: Pick<Preferences, 'get'>): ListenPlace[] {
    const dns = preferences.get('dns.listen');
    const named = this.listeners([], preferences).map(({ name, address, port, group }) => ({
      name: group === undefined ? `kernel.listen.${name}` : 'kernel.listen.groups',
      address,
      port,
      udp: false,
    }));
    if (!dns) return named;
    return [
      ...named,
      { name: 'dns.listen', address: dns.address ?? this.addressFor(preferences), port: dns.port, udp: true },
    ];
  }

  /** The address of listeners whose setting is only a port. */
  private addressFor(preferences: Pick<Preferences, 'get'>): string {
    return preferences.get('kernel.allow_lan') ? '0.0.0.0' : this.settings.kernelAddress;
  }
}
