import { formatIp, parseCidr, parseIp } from '@gatehouse/net';
import type { ConnectionMetadata } from '../interfaces/connection.js';
import { KernelConfigError } from '../interfaces/kernel.js';
import { DomainMap } from './domain-map.js';

/** Addresses outside the real network, each of which stands for a name. */
export interface FakeIpPool {
  /** The address that stands for a name while it is in use; null for a name that `filter` excludes. */
  addressFor(name: string): string | null;
  /** The name behind an address of the pool; null if it stands for none, or no longer. */
  nameOf(address: string): string | null;
  contains(address: string): boolean;
}

/** The most names kept, even if the range has more addresses. */
const MAX_NAMES = 65_536;
/** The addresses that a name may get; if all are taken, the least recently used name is dropped. */
const CHOICES = 16;
const MIN_PREFIX = 8;
const MAX_PREFIX = 29;

/**
 * Creates a pool over `range`, without its first and last address. `filter`: Clash wildcards of names that keep their
 * real addresses. With the same range, names of `previous` keep their addresses.
 * @throws KernelConfigError
 */
export function createFakeIpPool(
  range: string,
  filter: readonly string[] = [],
  previous: FakeIpPool | null = null,
): FakeIpPool {
  const cidr = parseCidr(range);
  if (cidr?.family !== 4 || cidr.prefix < MIN_PREFIX || cidr.prefix > MAX_PREFIX) {
    throw new KernelConfigError(
      'dns.fakeIp.range',
      `${JSON.stringify(range.slice(0, 80))} is not an IPv4 range of /${MIN_PREFIX} to /${MAX_PREFIX}`,
    );
  }
  const real = new DomainMap(Object.fromEntries(filter.map((entry) => [entry, true])), 'dns.fakeIp.filter');
  const size = 2 ** (32 - cidr.prefix);
  const first = cidr.words[0] ?? 0;
  const known = previous instanceof RangePool ? previous.places : null;
  const places = known?.first === first && known.size === size ? known : new Places(first, size);
  return new RangePool(places, real);
}

/** Turns a flow to an address of the pool into one to the name behind it. */
export function withRealName(metadata: ConnectionMetadata, pool: FakeIpPool): ConnectionMetadata {
  const { host, destinationIp } = metadata;
  const name = host === null && destinationIp !== null ? pool.nameOf(destinationIp) : null;
  return name === null ? metadata : { ...metadata, host: name, destinationIp: null, fakeIp: true };
}

class RangePool implements FakeIpPool {
  readonly places: Places;
  readonly #real: DomainMap<boolean>;

  constructor(places: Places, real: DomainMap<boolean>) {
    this.places = places;
    this.#real = real;
  }

  addressFor(host: string): string | null {
    const name = host.toLowerCase().replace(/\.$/, '');
    if (name === '' || this.#real.get(name)) return null;
    return formatIp({ family: 4, words: [this.places.first + 1 + this.places.assign(name)] });
  }

  nameOf(address: string): string | null {
    const offset = this.#offsetOf(address);
    return offset === null ? null : this.places.nameAt(offset - 1);
  }

  contains(address: string): boolean {
    return this.#offsetOf(address) !== null;
  }

  #offsetOf(address: string): number | null {
    const ip = parseIp(address);
    if (ip?.family !== 4) return null;
    const offset = (ip.words[0] ?? 0) - this.places.first;
    return offset >= 0 && offset < this.places.size ? offset : null;
  }
}

/**
 * Assigns names to addresses. The possible addresses of a name follow from the name itself: after a restart it gets the
 * same one again, and an address that a client still caches rarely stands for another name.
 */
class Places {
  /** The first address of the range, as a number. */
  readonly first: number;
  readonly size: number;
  readonly #capacity: number;
  /** Both have `#capacity` elements once there is a name. */
  #names: (string | undefined)[] = [];
  #usedAt = new Float64Array(0);
  readonly #byName = new Map<string, number>();
  #clock = 0;

  constructor(first: number, size: number) {
    this.first = first;
    this.size = size;
    this.#capacity = Math.min(size - 2, MAX_NAMES);
  }

  assign(name: string): number {
    if (this.#names.length === 0) {
      this.#names = Array.from({ length: this.#capacity }, () => undefined);
      this.#usedAt = new Float64Array(this.#capacity);
    }
    const place = this.#byName.get(name) ?? this.#placeFor(name);
    this.#byName.set(name, place);
    this.#names[place] = name;
    this.#use(place);
    return place;
  }

  nameAt(place: number): string | null {
    const name = this.#names[place];
    if (name === undefined) return null;
    this.#use(place);
    return name;
  }

  #placeFor(name: string): number {
    const capacity = this.#capacity;
    const home = hashOf(name) % capacity;
    let oldest = home;
    for (let i = 0; i < Math.min(CHOICES, capacity); i++) {
      const place = (home + i) % capacity;
      if (this.#names[place] === undefined) return place;
      if ((this.#usedAt[place] ?? 0) < (this.#usedAt[oldest] ?? 0)) oldest = place;
    }
    this.#byName.delete(this.#names[oldest] ?? '');
    return oldest;
  }

  #use(place: number): void {
    this.#usedAt[place] = ++this.#clock;
  }
}

/** FNV-1a, which is the same in every process. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}
