const WINDOW = 1024;

/** Remembers which sequence numbers were seen: each passes once, and those far behind the newest never (RFC 6479). */
export class ReplayWindow {
  private readonly seen = new Uint32Array(WINDOW / 32);
  private newest = -1;

  /** Whether a packet with this number may still be accepted. */
  fresh(sequence: number): boolean {
    if (sequence > this.newest) return true;
    return sequence > this.newest - WINDOW && (this.word(sequence) & bit(sequence)) === 0;
  }

  /** Records a fresh, authenticated number. Returns whether it is the newest. */
  accept(sequence: number): boolean {
    const newer = sequence > this.newest;
    if (newer) {
      if (sequence - this.newest >= WINDOW) this.seen.fill(0);
      else for (let passed = this.newest + 1; passed < sequence; passed++) this.set(passed, false);
      this.newest = sequence;
    }
    this.set(sequence, true);
    return newer;
  }

  private word(sequence: number): number {
    return this.seen[index(sequence)] ?? 0;
  }

  private set(sequence: number, value: boolean): void {
    const word = this.word(sequence);
    this.seen[index(sequence)] = value ? word | bit(sequence) : word & ~bit(sequence);
  }
}

function index(sequence: number): number {
  return Math.floor((sequence % WINDOW) / 32);
}

function bit(sequence: number): number {
  return 1 << (sequence % 32);
}
