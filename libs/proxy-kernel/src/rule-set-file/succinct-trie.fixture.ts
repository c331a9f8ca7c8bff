/** The arrays of a trie in LOUDS form whose keys are the reversed names, as `SuccinctTrie` has them. */
export function encodeTrie(names: readonly string[]): { leaves: Buffer; bitmap: Buffer; labels: Buffer } {
  const keys = [...new Set(names)].map((name) => Buffer.from(name).reverse()).toSorted((a, b) => Buffer.compare(a, b));
  const leaves: boolean[] = [];
  const bitmap: boolean[] = [];
  const labels: number[] = [];
  const queue = [{ from: 0, to: keys.length, column: 0 }];
  for (const { from, to, column } of queue) {
    let at = from;
    leaves.push(keys[at]?.length === column);
    if (leaves.at(-1)) at++;
    while (at < to) {
      const label = keys[at]?.[column];
      const start = at;
      while (at < to && keys[at]?.[column] === label) at++;
      queue.push({ from: start, to: at, column: column + 1 });
      labels.push(label ?? 0);
      bitmap.push(false);
    }
    bitmap.push(true);
  }
  return { leaves: encodeBits(leaves), bitmap: encodeBits(bitmap), labels: Buffer.from(labels) };
}

/** Words of 64 bits, big-endian, lowest bit first. */
export function encodeBits(bits: readonly boolean[]): Buffer {
  const bytes = Buffer.alloc(Math.ceil(bits.length / 64) * 8);
  for (const [i, bit] of bits.entries()) {
    const at = (i >> 6) * 8 + 7 - ((i & 63) >> 3);
    if (bit) bytes.writeUInt8(bytes.readUInt8(at) | (1 << (i & 7)), at);
  }
  return bytes;
}
