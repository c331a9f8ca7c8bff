import type { ConnectionMetadata } from '../../interfaces/connection.js';
import type { Accept } from '../accept.js';
import type { RuleSetTables } from './rule-sets.js';

/** Maps sets to the rules that name them: from the sets that contain a flow's name or address to the smallest rule. */
export class SetRules {
  readonly #tables: RuleSetTables;
  /** Rules by the number of the set, ascending: all, those for the target's address, those for the client's. */
  readonly #all: number[][] = [];
  readonly #byDestination: number[][] = [];
  readonly #bySource: number[][] = [];
  #first = Infinity;
  #firstBySource = Infinity;

  constructor(tables: RuleSetTables) {
    this.#tables = tables;
  }

  add(set: number, rule: number, src: boolean): void {
    push(this.#all, set, rule);
    push(src ? this.#bySource : this.#byDestination, set, rule);
    this.#first = Math.min(this.#first, rule);
    if (src) this.#firstBySource = Math.min(this.#firstBySource, rule);
  }

  /** The smallest accepted rule in `[from, to)` with a set whose names or prefixes match; `to` if there is none. */
  find(flow: ConnectionMetadata, from: number, to: number, accept: Accept): number {
    if (this.#first >= to) return to;
    let best = to;
    const visit =
      (lists: readonly (readonly number[] | undefined)[]): Accept =>
      (set) => {
        for (const rule of lists[set] ?? []) {
          if (rule >= best) break;
          if (rule < from || !accept(rule)) continue;
          best = rule;
          break;
        }
        return false;
      };
    const { domains, destinations, sources } = this.#tables;
    if (flow.host !== null) domains.find(flow.host, 0, Infinity, visit(this.#all));
    if (flow.destinationIp !== null) destinations.find(flow.destinationIp, 0, Infinity, visit(this.#byDestination));
    if (this.#firstBySource < best) destinations.find(flow.sourceIp, 0, Infinity, visit(this.#bySource));
    sources.find(flow.sourceIp, 0, Infinity, visit(this.#all));
    return best;
  }
}

function push(lists: number[][], set: number, rule: number): void {
  const list = lists[set];
  if (list) list.push(rule);
  else lists[set] = [rule];
}
