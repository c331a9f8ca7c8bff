/** What the witness knows of one moment: the last row of the log that was there. */
export interface WitnessLine {
  readonly at: string;
  readonly id: number;
  readonly hash: string;
}

/** Null for a line that the witness did not write, or whose write was cut off. */
export function parseWitnessLine(text: string): WitnessLine | null {
  try {
    const { at, id, hash } = JSON.parse(text) as Record<string, unknown>;
    if (typeof at !== 'string' || !Number.isSafeInteger(id) || typeof hash !== 'string') return null;
    return Number.isNaN(Date.parse(at)) ? null : { at, id: id as number, hash };
  } catch {
    // Half of a line, from a disk that was full.
    return null;
  }
}

/**
 * The lines that stay when there are too many: the newest, the one with the highest id, and of the others one in two, again
 * and again, so that old moments stay known at longer intervals.
 */
export function thinOut(lines: readonly WitnessLine[], most: number): WitnessLine[] {
  const newest = Math.floor(most / 2);
  let older = lines.slice(0, Math.max(0, lines.length - newest));
  const highest = older.reduce<WitnessLine | null>(
    (best, line) => (best === null || line.id > best.id ? line : best),
    null,
  );
  while (older.length > most - newest) older = older.filter((line, index) => index % 2 === 0 || line === highest);
  return [...older, ...lines.slice(Math.max(0, lines.length - newest))];
}
