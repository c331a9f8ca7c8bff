/** FNV-1a over the UTF-16 units, then mixed, because the low bits alone depend on the last characters. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return mix(hash);
}

/** The finaliser of MurmurHash3 (public domain). */
function mix(value: number): number {
  let hash = value;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/**
 * Highest random weight (Thaler and Ravishankar, 1998): each key has its own order of the members and uses the first of
 * them. A member that leaves moves only its own keys, and a new one gets an even share from all others.
 */
export class Rendezvous {
  /** By list of members, while the list is in use. */
  readonly #rings = new WeakMap<readonly string[], Ring>();

  /** @param members never empty; the same array must have the same members. */
  pick(key: string, members: readonly string[]): string {
    const { hashes, answers } = this.#ringOf(members);
    const known = answers.get(key);
    if (known !== undefined) return known;
    const answer = members[heaviest(hashText(key), hashes)] ?? '';
    if (answers.size >= MAX_ANSWERS) answers.clear();
    answers.set(key, answer);
    return answer;
  }

  #ringOf(members: readonly string[]): Ring {
    const known = this.#rings.get(members);
    if (known) return known;
    const ring = { hashes: Uint32Array.from(members, hashText), answers: new Map<string, string>() };
    this.#rings.set(members, ring);
    return ring;
  }
}

interface Ring {
  hashes: Uint32Array;
  answers: Map<string, string>;
}

/** Cached keys: weighing ten thousand members takes longer than the rest of a decision. */
const MAX_ANSWERS = 4096;

function heaviest(key: number, hashes: Uint32Array): number {
  let best = 0;
  let weight = -1;
  for (let index = 0; index < hashes.length; index += 1) {
    const candidate = mix(key ^ (hashes[index] ?? 0));
    if (candidate <= weight) continue;
    weight = candidate;
    best = index;
  }
  return best;
}
