import { NO_RANK } from './prefix-trie.js';

interface RankedList {
  list: string;
  rank: number;
  denies: boolean;
}

/** What is known of an address. Undefined: the list was never loaded. */
interface ListFacts {
  inList(list: string): boolean | undefined;
}

/** Rules about lists of addresses, the best rank first. The lists are kept elsewhere, once for all levels. */
export class ListRanks {
  private readonly lists: RankedList[] = [];

  get isEmpty(): boolean {
    return this.lists.length === 0;
  }

  /** Rules come in order of rank. */
  add(added: RankedList): void {
    // A rule that can never be the first to match is left out, so there are two for a list at most.
    const isBehind = this.lists.some(({ list, denies }) => list === added.list && (denies || !added.denies));
    if (!isBehind) this.lists.push(added);
  }

  /** The best rank for an address. `strict`: a rule that denies a list that was never loaded applies to everybody. */
  find(facts: ListFacts, strict: boolean): number {
    const found = this.lists.find(({ list, denies }) => facts.inList(list) ?? (strict && denies));
    return found?.rank ?? NO_RANK;
  }

  /** Whether one of the lists was never loaded. */
  lacks(facts: ListFacts): boolean {
    return this.lists.some(({ list }) => facts.inList(list) === undefined);
  }
}
