import { formatIp, parseCidr, parseIp } from '@gatehouse/net';
import type { ConnectionMetadata } from '../interfaces/connection.js';
import { KernelConfigError } from '../interfaces/kernel.js';
import { DomainMap } from './domain-map.js';

/** Addresses outside the real network, each standing for the name it was given out for. */
export interface FakeIpPool {
  /** The name's address, its own as long as it is in use; null for a name that `filter` keeps real. */
  addressFor(name: string): string | null;
  /** The name behind an address of the pool; null for one that stands for none, or no more. */
  nameOf(address: string): string | null;
  contains(address: string): boolean;
}

/** Names remembered, whatever the range has room for. */
const MAX_NAMES = 65_536;
const MIN_PREFIX = 8;
const MAX_PREFIX = 29;

/**
 * A pool over `range`, first and last address left out; the name longest out of use makes room. `filter`: Clash wildcards of
 * names that keep their real addresses.
 * @throws KernelConfigError
 */
export function createFakeIpPool(range: string, filter: readonly string[] = []): FakeIpPool {
  const cidr = parseCidr(range);
  if (cidr?.family !== 4 || cidr.prefix < MIN_PREFIX || cidr.prefix > MAX_PREFIX) {
    throw new KernelConfigError(
      'dns.fakeIp.range',
      `${JSON.stringify(range.slice(0, 80))} is not an IPv4 range of /${MIN_PREFIX} to /${MAX_PREFIX}`,
    );
  }
  const real = new DomainMap(Object.fromEntries(filter.map((entry) => [entry, true])), 'dns.fakeIp.filter');
  const size = 2 ** (32 - cidr.prefix);
  return new LruPool({ first: (cidr.words[0] ?? 0) + 1, size, capacity: Math.min(size - 2, MAX_NAMES), real });
}

/** A flow to an address of the pool is one to the name behind it. */
export function withRealName(metadata: ConnectionMetadata, pool: FakeIpPool): ConnectionMetadata {
  const { host, destinationIp } = metadata;
  const name = host === null && destinationIp !== null ? pool.nameOf(destinationIp) : null;
  return name === null ? metadata : { ...metadata, host: name, destinationIp: null };
}

interface PoolParts {
  first: number;
  size: number;
  capacity: number;
  real: DomainMap<boolean>;
}

class LruPool implements FakeIpPool {
  readonly #parts: PoolParts;
  /** Place in the pool by name, longest out of use first. */
  readonly #places = new Map<string, number>();
  readonly #names: string[] = [];

  constructor(parts: PoolParts) {
    this.#parts = parts;
  }

  addressFor(host: string): string | null {
    const name = host.toLowerCase().replace(/\.$/, '');
    const { real, first } = this.#parts;
    if (name === '' || real.get(name)) return null;
    const place = this.#places.get(name) ?? this.#freePlace();
    this.#use(name, place);
    return formatIp({ family: 4, words: [first + place] });
  }

  nameOf(address: string): string | null {
    const place = this.#placeOf(address);
    const name = place === null ? undefined : this.#names[place];
    if (name === undefined || place === null) return null;
    this.#use(name, place);
    return name;
  }

  contains(address: string): boolean {
    return this.#placeOf(address) !== null;
  }

  #placeOf(address: string): number | null {
    const ip = parseIp(address);
    if (ip?.family !== 4) return null;
    const place = (ip.words[0] ?? 0) - this.#parts.first;
    return place >= -1 && place < this.#parts.size - 1 ? place : null;
  }

  #freePlace(): number {
    if (this.#names.length < this.#parts.capacity) return this.#names.length;
    const [oldest = ['', 0]] = this.#places;
    this.#places.delete(oldest[0]);
    return oldest[1];
  }

  #use(name: string, place: number): void {
    this.#places.delete(name);
    this.#places.set(name, place);
    this.#names[place] = name;
  }
}
