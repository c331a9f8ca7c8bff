import { RuleSetFileError } from './rule-set-file-error.js';

export interface SuccinctTrie {
  /** One bit per node: a key ends here. Words of 64 bits, big-endian, lowest bit first. */
  leaves: Buffer;
  /** For each node in breadth-first order: a 0 for each child, then a 1. */
  bitmap: Buffer;
  /** The character that leads to each child, in the order of the zeros. */
  labels: Buffer;
}

/** Longer than any name with a wildcard. */
const MAX_KEY = 300;
const MAX_CHARACTERS = 32 * 1024 * 1024;
const NO_PARENT = 0xffffffff;

/**
 * All keys of a trie in LOUDS form whose keys are reversed names; the result has them in normal order.
 * @throws RuleSetFileError for an invalid trie.
 */
export function* trieKeys({ leaves, bitmap, labels }: SuccinctTrie): Generator<string> {
  const parents = readParents(bitmap, labels.length);
  const key = Buffer.alloc(MAX_KEY);
  let characters = 0;
  for (let node = 1; node < parents.length; node++) {
    if (!bitAt(leaves, node)) continue;
    let length = 0;
    for (let at = node; at !== 0; at = parents[at] ?? 0) {
      if (length === MAX_KEY) throw new RuleSetFileError('a name that is too long');
      key[length++] = labels[at - 1] ?? 0;
    }
    characters += length;
    if (characters > MAX_CHARACTERS) throw new RuleSetFileError('names of too many characters');
    // The path from leaf to root spells the reversed name backwards, which is the name.
    yield key.toString('utf8', 0, length);
  }
}

/** Parents come before their children; another order would allow cycles. */
function readParents(bitmap: Buffer, children: number): Uint32Array {
  const parents = new Uint32Array(children + 1).fill(NO_PARENT);
  let node = 0;
  let child = 0;
  for (let bit = 0; bit < bitmap.length * 8 && child < children; bit++) {
    if (bitAt(bitmap, bit)) {
      node++;
      continue;
    }
    child++;
    if (node >= child) throw new RuleSetFileError('a trie whose branches lead nowhere');
    parents[child] = node;
  }
  if (child < children) throw new RuleSetFileError('a trie with more branches than its shape has');
  return parents;
}

function bitAt(words: Buffer, bit: number): boolean {
  const byte = words[(bit >> 6) * 8 + 7 - ((bit & 63) >> 3)] ?? 0;
  return ((byte >> (bit & 7)) & 1) === 1;
}
