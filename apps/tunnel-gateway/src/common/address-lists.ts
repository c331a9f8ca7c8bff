import { AddressSet, type ListLookup } from '@gatehouse/tunnel-kernel';
import type { AddressListRow } from './config-rows.js';

/** Lists of addresses that rules name, ready for look-ups. Each is kept once, however many rules name it. */
export class AddressLists {
  private lists = new Map<string, { content: string; set: AddressSet }>();
  private readonly onProblem: (problem: string) => void;

  constructor(onProblem: (problem: string) => void) {
    this.onProblem = onProblem;
  }

  /** Unchanged lists are not read again. */
  apply(rows: readonly AddressListRow[]): void {
    const lists: typeof this.lists = new Map();
    for (const { name, content } of rows) {
      const known = this.lists.get(name);
      if (content === null) continue;
      if (known?.content === content) {
        lists.set(name, known);
        continue;
      }
      const set = AddressSet.decode(content);
      if (set !== null) lists.set(name, { content, set });
      else this.onProblem(`the list ${name} cannot be read: it counts as never loaded`);
    }
    this.lists = lists;
  }

  readonly lookup: ListLookup = (list, address) => this.lists.get(list)?.set.has(address);
}
