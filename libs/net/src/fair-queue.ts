/** A queue of items of several clients. `shift` serves the clients in turn, one item each. */
export class FairQueue<Item> {
  private readonly lines = new Map<string, Item[]>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  push(client: string, item: Item): void {
    const line = this.lines.get(client);
    if (line === undefined) this.lines.set(client, [item]);
    else line.push(item);
    this.count += 1;
  }

  shift(): Item | undefined {
    const [next] = this.lines;
    if (next === undefined) return undefined;
    const [client, line] = next;
    const item = line.shift();
    this.lines.delete(client);
    // Behind all other clients.
    if (line.length > 0) this.lines.set(client, line);
    this.count -= 1;
    return item;
  }

  lengthOf(client: string): number {
    return this.lines.get(client)?.length ?? 0;
  }

  /** Number of items of the client that has the most. */
  get longest(): number {
    return Math.max(0, ...[...this.lines.values()].map((line) => line.length));
  }

  /** Removes the newest item of the client that has the most. */
  dropFromLongest(): Item | undefined {
    const { longest } = this;
    for (const [client, line] of this.lines) {
      if (line.length < longest) continue;
      const item = line.pop();
      if (line.length === 0) this.lines.delete(client);
      this.count -= 1;
      return item;
    }
    return undefined;
  }
}
