/** Every fourth bit of a word, beginning with the first, second, third and fourth. */
const CLASS_0 = 0x11111111;
const CLASS_1 = 0x22222222;
const CLASS_2 = 0x44444444;
const CLASS_3 = 0x88888888 | 0;
const CLASSES = 4;
/** Products of words that a product of two blocks is made of (Karatsuba, twice). */
const PRODUCTS = 9;
const BLOCK_BYTES = 16;

/**
 * The hash of AES-GCM (NIST SP 800-38D section 6.4), which Node has only inside its ciphers. It takes the same time for all
 * keys and texts: no table is read at a place that depends on them.
 */
export class Ghash {
  /** The factors of the key, then their mirror images, each split into its classes of bits. */
  private readonly key = new Int32Array(2 * PRODUCTS * CLASSES);
  /** The words of the block, the last one first, as the digits of a number. */
  private readonly state = new Int32Array(4);
  private readonly product = new Int32Array(8);

  /** @param key a block of zeros, encrypted. */
  constructor(key: Uint8Array) {
    const w0 = wordAt(key, 12);
    const w1 = wordAt(key, 8);
    const w2 = wordAt(key, 4);
    const w3 = wordAt(key, 0);
    const factors = [w0, w1, w2, w3, w0 ^ w1, w2 ^ w3, w0 ^ w2, w1 ^ w3, w0 ^ w1 ^ w2 ^ w3];
    for (let index = 0; index < PRODUCTS; index += 1) {
      const factor = factors[index] as number;
      this.putFactor(index, factor);
      this.putFactor(PRODUCTS + index, mirrored(factor));
    }
  }

  reset(): void {
    this.state.fill(0);
  }

  /** Adds bytes, with zeros behind them up to a whole block. */
  update(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; at += BLOCK_BYTES) {
      this.add(wordAt(bytes, at + 12), wordAt(bytes, at + 8), wordAt(bytes, at + 4), wordAt(bytes, at));
    }
  }

  /** Adds the lengths of both parts, in bytes. `tag` becomes the hash XOR `mask`. */
  finish(associated: number, text: number, mask: Uint8Array, tag: Uint8Array): void {
    this.add(text * 8, 0, associated * 8, 0);
    for (let index = 0; index < 4; index += 1) {
      const at = 12 - 4 * index;
      const word = wordOf(this.state, index) ^ wordAt(mask, at);
      tag[at] = word >>> 24;
      tag[at + 1] = word >>> 16;
      tag[at + 2] = word >>> 8;
      tag[at + 3] = word;
    }
  }

  private putFactor(index: number, factor: number): void {
    const at = CLASSES * index;
    this.key[at] = factor & CLASS_0;
    this.key[at + 1] = factor & CLASS_1;
    this.key[at + 2] = factor & CLASS_2;
    this.key[at + 3] = factor & CLASS_3;
  }

  /** XORs a block into the state and multiplies it by the key. */
  private add(w0: number, w1: number, w2: number, w3: number): void {
    const { state, product } = this;
    const a0 = w0 ^ wordOf(state, 0);
    const a1 = w1 ^ wordOf(state, 1);
    const a2 = w2 ^ wordOf(state, 2);
    const a3 = w3 ^ wordOf(state, 3);
    this.multiply(a0, a1, a2, a3);
    reduce(product, state);
  }

  /** The product of a block and the key, 256 bits, its lowest word first. */
  private multiply(a0: number, a1: number, a2: number, a3: number): void {
    const { key, product } = this;
    const l0 = lowHalf(a0, key, 0);
    const l1 = lowHalf(a1, key, 1);
    const l2 = lowHalf(a2, key, 2);
    const l3 = lowHalf(a3, key, 3);
    const l01 = lowHalf(a0 ^ a1, key, 4) ^ l0 ^ l1;
    const l23 = lowHalf(a2 ^ a3, key, 5) ^ l2 ^ l3;
    const l02 = lowHalf(a0 ^ a2, key, 6);
    const l13 = lowHalf(a1 ^ a3, key, 7);
    const lAll = lowHalf(a0 ^ a1 ^ a2 ^ a3, key, 8) ^ l02 ^ l13;
    const h0 = highHalf(a0, key, 0);
    const h1 = highHalf(a1, key, 1);
    const h2 = highHalf(a2, key, 2);
    const h3 = highHalf(a3, key, 3);
    const h01 = highHalf(a0 ^ a1, key, 4) ^ h0 ^ h1;
    const h23 = highHalf(a2 ^ a3, key, 5) ^ h2 ^ h3;
    const h02 = highHalf(a0 ^ a2, key, 6);
    const h13 = highHalf(a1 ^ a3, key, 7);
    const hAll = highHalf(a0 ^ a1 ^ a2 ^ a3, key, 8) ^ h02 ^ h13;
    const p1 = h0 ^ l01;
    const p2 = l1 ^ h01;
    const q1 = h2 ^ l23;
    const q2 = l3 ^ h23;
    product[0] = l0;
    product[1] = p1;
    product[2] = p2 ^ l02 ^ l0 ^ l2;
    product[3] = h1 ^ h02 ^ lAll ^ p1 ^ q1;
    product[4] = l2 ^ l13 ^ hAll ^ p2 ^ q2;
    product[5] = q1 ^ h13 ^ h1 ^ h3;
    product[6] = q2;
    product[7] = h3;
  }
}

/** The product modulo the polynomial of GCM, whose bits are in the opposite order, so that the lower half is what is folded in. */
function reduce(product: Int32Array, state: Int32Array): void {
  for (let index = 7; index > 0; index -= 1) {
    product[index] = (wordOf(product, index) << 1) | (wordOf(product, index - 1) >>> 31);
  }
  product[0] = wordOf(product, 0) << 1;
  for (let index = 0; index < 4; index += 1) {
    const word = wordOf(product, index);
    product[index + 4] = wordOf(product, index + 4) ^ word ^ (word >>> 1) ^ (word >>> 2) ^ (word >>> 7);
    product[index + 3] = wordOf(product, index + 3) ^ (word << 31) ^ (word << 30) ^ (word << 25);
  }
  for (let index = 0; index < 4; index += 1) state[index] = wordOf(product, index + 4);
}

/**
 * The lower word of a product without carries. Each class of bits is multiplied as a number: its digits are four bits apart,
 * and at most eight ones meet in one of them.
 */
function lowHalf(factor: number, key: Int32Array, index: number): number {
  const at = CLASSES * index;
  const k0 = wordOf(key, at);
  const k1 = wordOf(key, at + 1);
  const k2 = wordOf(key, at + 2);
  const k3 = wordOf(key, at + 3);
  const f0 = factor & CLASS_0;
  const f1 = factor & CLASS_1;
  const f2 = factor & CLASS_2;
  const f3 = factor & CLASS_3;
  const c0 = Math.imul(f0, k0) ^ Math.imul(f1, k3) ^ Math.imul(f2, k2) ^ Math.imul(f3, k1);
  const c1 = Math.imul(f0, k1) ^ Math.imul(f1, k0) ^ Math.imul(f2, k3) ^ Math.imul(f3, k2);
  const c2 = Math.imul(f0, k2) ^ Math.imul(f1, k1) ^ Math.imul(f2, k0) ^ Math.imul(f3, k3);
  const c3 = Math.imul(f0, k3) ^ Math.imul(f1, k2) ^ Math.imul(f2, k1) ^ Math.imul(f3, k0);
  return (c0 & CLASS_0) | (c1 & CLASS_1) | (c2 & CLASS_2) | (c3 & CLASS_3);
}

/** The upper word: that of the mirror images is the lower one. */
function highHalf(factor: number, key: Int32Array, index: number): number {
  return mirrored(lowHalf(mirrored(factor), key, PRODUCTS + index)) >>> 1;
}

/** The bits of a word in the opposite order. */
function mirrored(word: number): number {
  const pairs = ((word & 0x55555555) << 1) | ((word >>> 1) & 0x55555555);
  const fours = ((pairs & 0x33333333) << 2) | ((pairs >>> 2) & 0x33333333);
  const eights = ((fours & 0x0f0f0f0f) << 4) | ((fours >>> 4) & 0x0f0f0f0f);
  const sixteens = ((eights & 0x00ff00ff) << 8) | ((eights >>> 8) & 0x00ff00ff);
  return (sixteens << 16) | (sixteens >>> 16);
}

function wordOf(words: Int32Array, index: number): number {
  return words[index] as number;
}

/** Zeros behind the end. */
function wordAt(bytes: Uint8Array, at: number): number {
  return (
    (byteAt(bytes, at) << 24) | (byteAt(bytes, at + 1) << 16) | (byteAt(bytes, at + 2) << 8) | byteAt(bytes, at + 3)
  );
}

function byteAt(bytes: Uint8Array, at: number): number {
  return at < bytes.length ? (bytes[at] as number) : 0;
}
