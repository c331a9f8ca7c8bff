/** Choices that a seed repeats (mulberry32). */
export class Chance {
  private state: number;

  constructor(readonly seed: number) {
    this.state = seed >>> 0;
  }

  /** From 0 up to, not including, `limit`. */
  below(limit: number): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined) throw new RangeError('nothing to choose from');
    return item;
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }

  /** An address of the loopback that none of the bystanders comes from. */
  stranger(): string {
    return `127.66.${this.below(250) + 1}.${this.below(250) + 1}`;
  }
}
