import { KernelConfigError } from '../interfaces/kernel.js';
import { SCOPE } from '../route/domain-table.js';
import { matchesLabels } from '../route/label-pattern.js';
import { RuleError } from '../route/rule/rule-error.js';
import { type DomainPattern, parseDomainEntry } from '../route/rule-set/parse-domain-entry.js';

interface Entry<T> extends DomainPattern {
  value: T;
}

/** Values by domain in Clash wildcards. The most specific wins: the longest name, then the narrowest pattern. */
export class DomainMap<T> {
  readonly #byName = new Map<string, Entry<T>[]>();

  /** @throws KernelConfigError naming the key. A key may contain several domains, separated by commas. */
  constructor(record: Readonly<Record<string, T>>, path: string) {
    for (const [key, value] of Object.entries(record)) {
      for (const text of key.split(',')) this.#add(`${path}[${JSON.stringify(key)}]`, text.trim(), value);
    }
    for (const entries of this.#byName.values()) entries.sort((a, b) => rank(a) - rank(b));
  }

  get(host: string): T | null {
    for (let at = 0; at >= 0; at = host.indexOf('.', at) + 1 || -1) {
      const found = this.#byName.get(host.slice(at))?.find((entry) => covers(entry, host, at));
      if (found) return found.value;
    }
    return this.#byName.get('')?.find((entry) => covers(entry, host, host.length))?.value ?? null;
  }

  #add(path: string, text: string, value: T): void {
    try {
      const entry = { ...parseDomainEntry(text), value };
      const entries = this.#byName.get(entry.domain);
      if (entries) entries.push(entry);
      else this.#byName.set(entry.domain, [entry]);
    } catch (error) {
      if (error instanceof RuleError) throw new KernelConfigError(path, error.message);
      throw error;
    }
  }
}

function covers({ scope, labels }: DomainPattern, host: string, start: number): boolean {
  if (labels) return matchesLabels(host, labels);
  if (start === 0) return (scope & SCOPE.exact) !== 0;
  return (scope & SCOPE.below) !== 0 || ((scope & SCOPE.oneLabel) !== 0 && host.indexOf('.') === start - 1);
}

function rank({ scope, labels }: DomainPattern): number {
  if (labels) return 0;
  return scope === SCOPE.exact ? 1 : scope === SCOPE.oneLabel ? 2 : 3;
}
