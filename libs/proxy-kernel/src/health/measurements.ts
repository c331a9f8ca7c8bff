import type { HealthReport, NodeHealth } from '../interfaces/kernel.js';

/** The key of general measurements. */
const GENERAL = '';
/** The most test addresses; the oldest ones are dropped first. */
const MAX_ADDRESSES = 256;

/** The last measurements, by test address and outbound tag. */
export class Measurements {
  readonly #byAddress = new Map<string, Map<string, NodeHealth>>([[GENERAL, new Map()]]);

  set(testUrl: string | null, report: HealthReport, accepts: (tag: string) => boolean): string[] {
    const known = this.#ofAddress(testUrl ?? GENERAL);
    const tags = Object.keys(report).filter(accepts);
    for (const tag of tags) {
      const health = report[tag];
      if (health) known.set(tag, health);
    }
    return tags;
  }

  /**
   * A node without a measurement for this address uses the general one, but only for being alive, not for its delay.
   */
  get(testUrl: string | undefined, tag: string): { alive: boolean; delayMs: number | null } | null {
    const own = testUrl === undefined ? undefined : this.#byAddress.get(testUrl);
    const health = own?.get(tag);
    if (health) return health;
    const general = this.#byAddress.get(GENERAL)?.get(tag);
    if (!general) return null;
    return own && own.size > 0 ? { alive: general.alive, delayMs: null } : general;
  }

  keepOnly(tags: ReadonlySet<string>, testUrls: ReadonlySet<string>): void {
    for (const [address, known] of this.#byAddress) {
      if (address !== GENERAL && !testUrls.has(address)) this.#byAddress.delete(address);
      else for (const tag of known.keys()) if (!tags.has(tag)) known.delete(tag);
    }
  }

  #ofAddress(address: string): Map<string, NodeHealth> {
    const known = this.#byAddress.get(address);
    if (known) return known;
    const added = new Map<string, NodeHealth>();
    this.#byAddress.set(address, added);
    const oldest = [...this.#byAddress.keys()].find((name) => name !== GENERAL);
    if (oldest !== undefined && this.#byAddress.size > MAX_ADDRESSES) this.#byAddress.delete(oldest);
    return added;
  }
}
