export const STATE_WORDS = 8;
const ROUNDS = 64;
const WORDS = 16;

/** Fractions of the square roots of the first primes (FIPS 180-4 section 5.3.3), and of the cube roots (4.2.2). */
export const INITIAL = firstPrimes(STATE_WORDS).map((prime) => fraction(Math.sqrt(prime)));
const CONSTANTS = Int32Array.from(firstPrimes(ROUNDS), (prime) => fraction(Math.cbrt(prime)));

const schedule = new Int32Array(ROUNDS);

/**
 * Adds the 64 bytes at `at` to a state of SHA-256 (FIPS 180-4 section 6.2.2). It takes the same time for all bytes.
 */
export function compress(state: Int32Array, bytes: Uint8Array, at: number): void {
  spread(bytes, at);
  let a = state[0] as number;
  let b = state[1] as number;
  let c = state[2] as number;
  let d = state[3] as number;
  let e = state[4] as number;
  let f = state[5] as number;
  let g = state[6] as number;
  let h = state[7] as number;
  for (let t = 0; t < ROUNDS; t += 1) {
    const sumE = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const one = (h + sumE + ((e & f) ^ (~e & g)) + (CONSTANTS[t] as number) + (schedule[t] as number)) | 0;
    const sumA = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const two = (sumA + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + one) | 0;
    d = c;
    c = b;
    b = a;
    a = (one + two) | 0;
  }
  state[0] = (state[0] as number) + a;
  state[1] = (state[1] as number) + b;
  state[2] = (state[2] as number) + c;
  state[3] = (state[3] as number) + d;
  state[4] = (state[4] as number) + e;
  state[5] = (state[5] as number) + f;
  state[6] = (state[6] as number) + g;
  state[7] = (state[7] as number) + h;
}

/** Makes the words of all rounds of a block. */
function spread(bytes: Uint8Array, at: number): void {
  const w = schedule;
  for (let t = 0, from = at; t < WORDS; t += 1, from += 4) {
    w[t] = wordAt(bytes, from);
  }
  for (let t = WORDS; t < ROUNDS; t += 1) {
    const x = w[t - 15] as number;
    const y = w[t - 2] as number;
    const low = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const high = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    w[t] = ((w[t - 16] as number) + low + (w[t - 7] as number) + high) | 0;
  }
}

function wordAt(bytes: Uint8Array, at: number): number {
  const high = ((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16);
  return high | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number);
}

/** The first 32 bits behind the point. */
function fraction(root: number): number {
  return ((root - Math.floor(root)) * 2 ** 32) | 0;
}

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < count; candidate += 1) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  }
  return primes;
}
