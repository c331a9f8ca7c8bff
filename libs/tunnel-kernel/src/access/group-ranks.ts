import { NO_RANK } from './prefix-trie.js';

interface RankedGroup<K> {
  group: K;
  rank: number;
}

/** Rules about groups of addresses that only a database knows, such as countries: the best rank for each group. */
export class GroupRanks<K> {
  private readonly members = new Map<K, number>();
  /**
   * Negated groups, the best rank first, each group once: the second entry applies to addresses of the first group.
   */
  private readonly negated: RankedGroup<K>[] = [];
  private firstDeny = NO_RANK;

  get isEmpty(): boolean {
    return this.members.size === 0 && this.negated.length === 0;
  }

  /** Rules come in order of rank. */
  add({ group, rank }: RankedGroup<K>, { negated, denies }: { negated: boolean; denies: boolean }): void {
    if (denies) this.firstDeny = Math.min(this.firstDeny, rank);
    if (!negated) this.members.set(group, this.members.get(group) ?? rank);
    else if (!this.negated.some((known) => known.group === group)) this.negated.push({ group, rank });
  }

  /**
   * The best rank for an address of the group; null: it is in none. Undefined: there is no database, and with `strict`
   * any rule that denies a group applies.
   */
  find(group: K | null | undefined, strict: boolean): number {
    if (group === undefined) return strict ? this.firstDeny : NO_RANK;
    const direct = group === null ? undefined : this.members.get(group);
    const [best, second] = this.negated;
    const negated = best?.group === group ? second : best;
    return Math.min(direct ?? NO_RANK, negated?.rank ?? NO_RANK);
  }
}
