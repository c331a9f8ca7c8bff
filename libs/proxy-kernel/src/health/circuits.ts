import type { CircuitChanged } from '../interfaces/kernel.js';

/** Failures in a row that open a circuit. */
export const OPENING_FAILURES = 5;
/** How long an open circuit keeps flows away before one may try it, and how long a trial may take. */
export const OPEN_MS = 30_000;

interface Circuit {
  failures: number;
  /** Null while closed. */
  openedAt: number | null;
  /** When a flow may try it; a failed trial postpones it. */
  tryAt: number;
  halfOpen: boolean;
  /** A trial without a result by then is dropped. */
  trialUntil: number;
}

/**
 * Circuit breakers by tag. Five failures in a row open one; after 30 s one flow may try it (half-open), whose failure
 * opens it for as long again. Contains only tags that failed since they last worked.
 */
export class Circuits {
  readonly #circuits = new Map<string, Circuit>();
  readonly #now: () => number;
  readonly #onChange: (change: CircuitChanged) => void;

  constructor(now: () => number, onChange: (change: CircuitChanged) => void) {
    this.#now = now;
    this.#onChange = onChange;
  }

  /** Open or half-open. */
  isOpen(tag: string): boolean {
    return (this.#circuits.get(tag)?.openedAt ?? null) !== null;
  }

  get anyHalfOpen(): boolean {
    for (const { halfOpen } of this.#circuits.values()) if (halfOpen) return true;
    return false;
  }

  halfOpen(tag: string): boolean {
    return this.#circuits.get(tag)?.halfOpen ?? false;
  }

  mayTry(tag: string): boolean {
    const circuit = this.#circuits.get(tag);
    return circuit !== undefined && circuit.halfOpen && circuit.trialUntil <= this.#now();
  }

  claimTrial(tag: string): boolean {
    const circuit = this.#circuits.get(tag);
    if (!circuit || !this.mayTry(tag)) return false;
    circuit.trialUntil = this.#now() + OPEN_MS;
    return true;
  }

  /** A trial ended without a result for the node. */
  releaseTrial(tag: string): void {
    const circuit = this.#circuits.get(tag);
    if (circuit) circuit.trialUntil = -Infinity;
  }

  /** Returns true if groups must decide again. */
  failed(tag: string): boolean {
    const circuit = this.#circuits.get(tag) ?? newCircuit();
    this.#circuits.set(tag, circuit);
    circuit.failures += 1;
    const opens = circuit.openedAt === null && circuit.failures >= OPENING_FAILURES;
    if (!opens && !circuit.halfOpen) return false;
    const at = this.#now();
    Object.assign(circuit, { tryAt: at + OPEN_MS, halfOpen: false, trialUntil: -Infinity });
    if (opens) {
      circuit.openedAt = at;
      this.#onChange({ at, tag, open: true, failures: circuit.failures });
    }
    return true;
  }

  /** The node carried a flow, or answered a measurement begun at `since`. Returns true if groups must decide again. */
  succeeded(tag: string, since = this.#now()): boolean {
    const circuit = this.#circuits.get(tag);
    if (!circuit || (circuit.openedAt !== null && since < circuit.openedAt)) return false;
    this.#circuits.delete(tag);
    if (circuit.openedAt === null) return false;
    this.#onChange({ at: this.#now(), tag, open: false, failures: 0 });
    return true;
  }

  /** Allows the trials that are due, and returns the tags of their circuits. */
  settle(): string[] {
    const at = this.#now();
    const due: string[] = [];
    for (const [tag, circuit] of this.#circuits) {
      if (circuit.openedAt === null || circuit.halfOpen || circuit.tryAt > at) continue;
      circuit.halfOpen = true;
      due.push(tag);
    }
    return due;
  }

  keepOnly(tags: ReadonlySet<string>): void {
    for (const tag of this.#circuits.keys()) if (!tags.has(tag)) this.#circuits.delete(tag);
  }
}

function newCircuit(): Circuit {
  return { failures: 0, openedAt: null, tryAt: Infinity, halfOpen: false, trialUntil: -Infinity };
}
