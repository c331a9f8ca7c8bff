import type { OutboundConfig, Wishes } from '../interfaces/index.js';

/** The nodes of a configuration by what users may ask for. */
export class NodeLabels {
  readonly #byCountry = new Map<string, string[]>();
  readonly #byName = new Map<string, string[]>();

  constructor(outbounds: readonly OutboundConfig[]) {
    for (const { tag, country, names = [] } of outbounds) {
      if (country !== undefined) add(this.#byCountry, country, tag);
      for (const name of names) add(this.#byName, name, tag);
    }
  }

  /** The nodes with this name and of this country; null if neither is asked for. */
  find({ country, node }: Pick<Wishes, 'country' | 'node'>): readonly string[] | null {
    const inCountry = country === undefined ? null : (this.#byCountry.get(country) ?? []);
    const named = node === undefined ? null : (this.#byName.get(node) ?? []);
    if (!inCountry || !named) return inCountry ?? named;
    return named.filter((tag) => inCountry.includes(tag));
  }
}

function add(index: Map<string, string[]>, key: string, tag: string): void {
  const known = index.get(key);
  if (known) known.push(tag);
  else index.set(key, [tag]);
}
