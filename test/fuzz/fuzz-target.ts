export interface FuzzTarget {
  seeds: readonly (string | Uint8Array)[];
  /** Throws what it must not throw. */
  run(input: Buffer): void;
  /** Around the mutated bytes: base64, a compression. */
  wrap?(input: Buffer): Buffer;
}
