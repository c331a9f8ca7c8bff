import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { guardPromise, type ControlEndpoint } from '@gatehouse/net';

/** Names are resolved this often, because an orchestrator adds and removes kernels. */
const LOOK_UP_MS = 5_000;
/** Far more than one service should drive; the rest is left out. */
const MAX_KERNELS = 64;

export interface Resolved {
  address: string;
  family: number;
}

export interface KernelPlacesOptions {
  onFound: (places: readonly ControlEndpoint[]) => void;
  warn: (message: string) => void;
  resolve?: (host: string) => Promise<readonly Resolved[]>;
  lookUpMs?: number;
}

/**
 * Finds the control channels of all kernels. A host name with several addresses of one family stands for as many
 * kernels. A name with a single one is left to the system, which may know it in both families.
 */
export class KernelPlaces {
  private readonly configured: readonly ControlEndpoint[];
  private readonly options: Required<KernelPlacesOptions>;
  /** The last answer for each name, which stays in use while the name cannot be resolved. */
  private readonly known = new Map<string, readonly ControlEndpoint[]>();
  private readonly timer: NodeJS.Timeout | undefined;
  private looking = false;
  private warned = false;

  constructor(configured: readonly ControlEndpoint[], options: KernelPlacesOptions) {
    this.configured = configured;
    this.options = { resolve: (host) => lookup(host, { all: true }), lookUpMs: LOOK_UP_MS, ...options };
    if (!configured.some(hasName)) {
      this.options.onFound(this.limited(configured));
      return;
    }
    guardPromise(null, this.lookUp());
    this.timer = setInterval(() => guardPromise(null, this.lookUp()), this.options.lookUpMs);
    this.timer.unref();
  }

  close(): void {
    clearInterval(this.timer);
  }

  /** One look-up at a time: a slow name server must not let an older answer replace a newer one. */
  private async lookUp(): Promise<void> {
    if (this.looking) return;
    this.looking = true;
    const found = await Promise.all(this.configured.map((place) => this.placesOf(place)));
    this.looking = false;
    this.options.onFound(this.limited(found.flat()));
  }

  private async placesOf(place: ControlEndpoint): Promise<readonly ControlEndpoint[]> {
    if (!hasName(place)) return [place];
    try {
      const addresses = await this.options.resolve(place.host);
      const [four, six] = [4, 6].map((wanted) => addresses.filter(({ family }) => family === wanted));
      const most = (four?.length ?? 0) > 1 ? four : six;
      const several = (most?.length ?? 0) > 1 ? most : undefined;
      this.known.set(place.host, several?.map(({ address }) => ({ host: address, port: place.port })) ?? [place]);
    } catch {
      // Connecting reports the reason for a name that never had an address.
    }
    return this.known.get(place.host) ?? [place];
  }

  private limited(places: readonly ControlEndpoint[]): readonly ControlEndpoint[] {
    const tooMany = places.length > MAX_KERNELS;
    if (tooMany && !this.warned) this.options.warn(`Only ${MAX_KERNELS} of ${places.length} kernels are used`);
    this.warned = tooMany;
    return places.slice(0, MAX_KERNELS);
  }
}

function hasName(place: ControlEndpoint): place is { host: string; port: number } {
  return 'host' in place && isIP(place.host) === 0;
}
