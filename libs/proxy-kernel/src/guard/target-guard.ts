import { isIP } from 'node:net';
import { cidrContains, formatIp, isPublicAddress, parseIp, specialPurposeRanges, type IpAddress } from '@gatehouse/net';
import {
  ForbiddenTargetError,
  type Endpoint,
  type GuardConfig,
  type Resolver,
  type RuleConfig,
  type Target,
} from '../interfaces/index.js';
import { namedTargetOf, namesAddress } from './named-target.js';
import { networkInterfaces } from 'node:os';

/** Networks that a name chosen by an administrator may lead to without a rule for the address. */
const NETWORKS_OF_PEOPLE = specialPurposeRanges('private', 'shared');

/** Decides which addresses this machine connects to for others. */
export interface DialGuard {
  /** @throws ForbiddenTargetError if one of the addresses must not be connected to. */
  check(addresses: readonly string[], target: Target): Promise<void> | void;
  /** The same for one datagram; false: it is dropped. Names of own services count with their last known addresses. */
  permits(address: string, target: Target): boolean;
}

/**
 * Keeps flows that leave this machine directly away from the platform's own services, its database and Redis, and if
 * configured from private networks. The check is made on the addresses that are dialled, so that neither another
 * spelling nor a name whose answer changes gets past it.
 * A rule that an administrator wrote by hand with the target `DIRECT` opens what it names: an own service by its
 * address and its port together (`AND,((IP-CIDR,127.0.0.1/32),(DST-PORT,8080)),DIRECT`), a private network by its
 * prefix or by `GEOIP,LAN`. It has to be the rule that matches the flow.
 */
export class TargetGuard implements DialGuard {
  private readonly config: GuardConfig;
  private readonly rules: readonly RuleConfig[];
  private readonly local: LocalAddresses;
  private readonly own: OwnEndpoints;

  constructor(config: GuardConfig, rules: readonly RuleConfig[], resolver: Resolver) {
    this.config = config;
    this.rules = rules;
    this.local = new LocalAddresses();
    this.own = new OwnEndpoints(config.own, resolver);
  }

  /** For servers of nodes: they may be in a private network, but not an own service. */
  get forServers(): DialGuard {
    return new ServerGuard(this);
  }

  check(addresses: readonly string[], target: Target): Promise<void> | void {
    if (!this.own.mayBe(target.port)) return this.judge(addresses, target);
    return this.own.refresh().then(() => this.judge(addresses, target));
  }

  permits(address: string, target: Target): boolean {
    return this.reasonAgainst(address, target) === null;
  }

  isOwn(address: string, port: number): boolean {
    if (!this.own.mayBe(port)) return false;
    const ip = parseIp(address);
    return ip !== null && this.own.has(ip, port, this.local);
  }

  async checkServer(addresses: readonly string[], { host, port }: Target): Promise<void> {
    if (!this.own.mayBe(port)) return;
    await this.own.refresh();
    if (addresses.some((address) => this.isOwn(address, port))) throw ownService(host, port);
  }

  private judge(addresses: readonly string[], target: Target): void {
    for (const address of addresses) {
      const error = this.reasonAgainst(address, target);
      if (error) throw error;
    }
  }

  private reasonAgainst(address: string, target: Target): ForbiddenTargetError | null {
    const ip = parseIp(address);
    const { host, port } = target;
    if (!ip) return null;
    if (this.own.has(ip, port, this.local)) return this.opensOwn(ip, target) ? null : ownService(host, port);
    if (!this.config.refusePrivate || isPublicAddress(address) || this.opensPrivate(ip, target)) return null;
    return new ForbiddenTargetError(`${host}:${port} is in a private or reserved network, and no rule names it`);
  }

  private opensOwn(ip: IpAddress, { host, port, ruleIndex = -1 }: Target): boolean {
    const named = namedTargetOf(this.rules[ruleIndex]);
    if (!named?.ports.includes(port)) return false;
    return namesAddress(named, ip, true) || (named.domains.includes(host) && this.own.isNamed(host));
  }

  private opensPrivate(ip: IpAddress, { ruleIndex = -1 }: Target): boolean {
    const named = namedTargetOf(this.rules[ruleIndex]);
    if (!named) return false;
    const isNetwork = NETWORKS_OF_PEOPLE.some((range) => cidrContains(range, ip));
    if (isNetwork && (named.lan || named.suffixes || named.domains.length > 0)) return true;
    return namesAddress(named, ip, false);
  }
}

class ServerGuard implements DialGuard {
  private readonly guard: TargetGuard;

  constructor(guard: TargetGuard) {
    this.guard = guard;
  }

  check(addresses: readonly string[], target: Target): Promise<void> {
    return this.guard.checkServer(addresses, target);
  }

  permits(address: string, { port }: Target): boolean {
    return !this.guard.isOwn(address, port);
  }
}

const REFRESH_MS = 10_000;

/** Addresses of own services. Those set by host name are resolved again while they are in use. */
class OwnEndpoints {
  private readonly endpoints: readonly Endpoint[];
  private readonly ports: ReadonlySet<number>;
  private readonly resolver: Resolver;
  /** By host name. */
  private readonly addresses = new Map<string, readonly IpAddress[]>();
  private refreshing: Promise<void> | null = null;
  private refreshedAt = -Infinity;

  constructor(endpoints: readonly Endpoint[], resolver: Resolver) {
    this.endpoints = endpoints;
    this.ports = new Set(endpoints.map(({ port }) => port));
    this.resolver = resolver;
  }

  mayBe(port: number): boolean {
    return this.ports.has(port);
  }

  has(ip: IpAddress, port: number, local: LocalAddresses): boolean {
    return this.endpoints.some((own) => {
      if (own.port !== port) return false;
      if (own.host === '*') return local.has(ip);
      return this.addressesOf(own.host).some((at) => formatIp(at) === formatIp(ip) || (local.has(at) && local.has(ip)));
    });
  }

  /**
   * Whether an own service is set by exactly this name, or the name always means this machine (RFC 6761 section 6.3).
   */
  isNamed(host: string): boolean {
    return host === 'localhost' || this.endpoints.some((own) => own.host === host);
  }

  private addressesOf(host: string): readonly IpAddress[] {
    const named = parseIp(host);
    return named ? [named] : (this.addresses.get(host) ?? []);
  }

  refresh(): Promise<void> {
    if (performance.now() - this.refreshedAt < REFRESH_MS) return Promise.resolve();
    this.refreshing ??= this.look().finally(() => {
      this.refreshing = null;
      this.refreshedAt = performance.now();
    });
    return this.refreshing;
  }

  private async look(): Promise<void> {
    const names = new Set(this.endpoints.map(({ host }) => host).filter((host) => host !== '*' && isIP(host) === 0));
    await Promise.all([...names].map((name) => this.lookUp(name)));
  }

  /** A name that cannot be resolved at the moment keeps its previous addresses. */
  private async lookUp(name: string): Promise<void> {
    try {
      const found = await this.resolver.resolve(name);
      this.addresses.set(
        name,
        found.flatMap((address) => parseIp(address) ?? []),
      );
    } catch {
      // If this machine cannot resolve the name, no flow can reach it by an address either.
    }
  }
}

function ownService(host: string, port: number): ForbiddenTargetError {
  return new ForbiddenTargetError(`${host}:${port} is a service of this platform, and no rule names it`);
}

const KEPT_MS = 2_000;
/**
 * Addresses that reach this machine whatever its interfaces are. Linux reserves 0.0.0.0/8 but connects to 0.0.0.0 only.
 */
const ALWAYS_LOCAL = specialPurposeRanges('loopback', 'unspecified');

/** Whether an address belongs to this machine. Interfaces change, so they are read again after two seconds. */
class LocalAddresses {
  private known = new Set<string>();
  private readAt = -Infinity;

  has(ip: IpAddress): boolean {
    if (ALWAYS_LOCAL.some((range) => cidrContains(range, ip))) return true;
    const now = performance.now();
    if (now - this.readAt > KEPT_MS) {
      this.known = readInterfaces();
      this.readAt = now;
    }
    return this.known.has(formatIp(ip));
  }
}

function readInterfaces(): Set<string> {
  const all = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
  return new Set(all.flatMap(({ address }) => parseIp(address) ?? []).map((ip) => formatIp(ip)));
}
