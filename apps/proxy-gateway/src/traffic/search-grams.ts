/** Lengths of the pieces a text is known by: short ones for short keywords, long ones because they are rare. */
const SHORT = [1, 2, 3] as const;
const LONG = 5;
/** Pieces of a keyword that are asked for; more of them hardly narrow the search further. */
const MAX_ASKED = 24;

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** Adds every piece of a text, as a 32-bit hash of its length and UTF-16 code units. */
export function addGrams(text: string, into: Set<number>): void {
  for (const length of SHORT) addPieces(text, length, into);
  addPieces(text, LONG, into);
}

/** What `addGrams` has put in for every text that holds the keyword. Empty for an empty keyword only. */
export function gramsOfKeyword(keyword: string): number[] {
  const pieces = new Set<number>();
  addPieces(keyword, keyword.length >= LONG ? LONG : Math.min(keyword.length, SHORT.length), pieces);
  const all = [...pieces];
  const step = Math.max(1, all.length / MAX_ASKED);
  return Array.from({ length: Math.min(all.length, MAX_ASKED) }, (_, index) => all[Math.floor(index * step)] ?? 0);
}

function addPieces(text: string, length: number, into: Set<number>): void {
  if (length === 0) return;
  for (let end = length; end <= text.length; end++) into.add(hash(text, end - length, end));
}

function hash(text: string, start: number, end: number): number {
  let value = FNV_OFFSET ^ (end - start);
  for (let index = start; index < end; index++) value = Math.imul(value ^ text.charCodeAt(index), FNV_PRIME);
  return value | 0;
}
