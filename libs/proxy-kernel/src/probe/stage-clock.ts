import type { ProbeTimings } from '../interfaces/probe.js';

export type ProbeStage = 'dns' | 'connect' | 'tls' | 'handshake' | 'ttfb';

/** Measures stages. A stage that ends several times (a chain, or TLS after the node's own handshake) adds up. */
export class StageClock {
  readonly #startedAt = performance.now();
  readonly #stages = new Map<ProbeStage, number>();
  #last = this.#startedAt;

  /** Counts the time since the last mark for this stage. */
  mark(stage: ProbeStage): void {
    const now = performance.now();
    this.#stages.set(stage, (this.#stages.get(stage) ?? 0) + now - this.#last);
    this.#last = now;
  }

  /** Sets the time of a stage, whatever was marked. */
  replace(stage: ProbeStage, ms: number): void {
    this.#stages.set(stage, ms);
  }

  /** Milliseconds from the start to the last mark. */
  get totalMs(): number {
    return this.#last - this.#startedAt;
  }

  timings(): ProbeTimings {
    const of = (stage: ProbeStage): number | null => roundMs(this.#stages.get(stage) ?? null);
    return {
      dnsMs: of('dns'),
      connectMs: of('connect'),
      tlsMs: of('tls'),
      handshakeMs: of('handshake'),
      ttfbMs: of('ttfb'),
    };
  }
}

export function roundMs(ms: number | null): number | null {
  return ms === null ? null : Math.round(ms);
}
