import { Resolver } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import type { ServiceCheckStep } from '@gatehouse/contracts';
import { formatIp, isLoopback, isPublicAddress, parseIp } from '@gatehouse/net';
import { Injectable } from '@nestjs/common';
import { PublicAddresses } from '../gateway/public-addresses.js';
import { TunnelGatewaySettings } from '../settings.js';
import { step } from './steps.js';

const TIMEOUT_MS = 2_000;
/** The name does not exist, or has no such record. */
const ABSENT = new Set(['ENOTFOUND', 'ENODATA', 'NOTFOUND', 'NODATA']);
const MAX_SHOWN = 4;

/** Whether a host's name leads visitors to this gateway. */
@Injectable()
export class NameCheck {
  constructor(
    private readonly settings: TunnelGatewaySettings,
    private readonly addresses: PublicAddresses,
  ) {}

  /** `pattern`: of a host. Null where it stands for all names. */
  async run(pattern: string): Promise<ServiceCheckStep | null> {
    if (pattern.includes('*')) return null;
    if (pattern === 'localhost' || pattern.endsWith('.localhost')) return step('dns_local');
    const [found, own] = await Promise.all([this.resolve(pattern), this.own()]);
    if (found === null) return step('dns_unknown');
    if (found.length === 0) return step('dns_missing');
    if (found.some((address) => own.has(address))) return step('dns_here');
    // Of a private network nothing is disclosed.
    const shown = found.filter(isPublicAddress).slice(0, MAX_SHOWN);
    return step('dns_elsewhere', shown.length === 0 ? null : shown.join(', '));
  }

  /** Addresses of this machine, and those of its public names. */
  private async own(): Promise<Set<string>> {
    const local = Object.values(networkInterfaces()).flatMap((list) => list?.map(({ address }) => address) ?? []);
    const names = new Set([new URL(this.settings.publicUrl).hostname, this.addresses.agents.replace(/:\d+$/, '')]);
    const named = await Promise.all([...names].map((name) => this.addressesOf(name.replace(/^\[|\]$/g, ''))));
    return new Set([...local, ...named.flat()].map(canonical));
  }

  private async addressesOf(name: string): Promise<readonly string[]> {
    const literal = parseIp(name);
    if (literal === null) return (await this.resolve(name)) ?? [];
    const address = formatIp(literal);
    return isLoopback(address) ? [] : [address];
  }

  /** Null: the DNS did not answer. */
  private async resolve(name: string): Promise<string[] | null> {
    const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 1 });
    if (this.settings.dnsServers.length > 0) resolver.setServers(this.settings.dnsServers);
    const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
    if (found.length > 0) return found.map(canonical);
    const failed = answers.some((answer) => {
      const code = answer.status === 'rejected' ? (answer.reason as { code?: string }).code : undefined;
      return code !== undefined && !ABSENT.has(code);
    });
    return failed ? null : [];
  }
}

function canonical(address: string): string {
  const parsed = parseIp(address);
  return parsed === null ? address : formatIp(parsed);
}
