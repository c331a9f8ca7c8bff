/** What the witness saw at one moment: the last row of the log. */
export interface WitnessLine {
  readonly at: string;
  readonly id: number;
  readonly hash: string;
}

/** Null for a line that the witness did not write, or whose write was interrupted. */
export function parseWitnessLine(text: string): WitnessLine | null {
  try {
    const { at, id, hash } = JSON.parse(text) as Record<string, unknown>;
    if (typeof at !== 'string' || !Number.isSafeInteger(id) || typeof hash !== 'string') return null;
    return Number.isNaN(Date.parse(at)) ? null : { at, id: id as number, hash };
  } catch {
    // An incomplete line, written to a full disk.
    return null;
  }
}

/**
 * The lines to keep when there are too many: the newest, the one with the highest id, and every second of the others,
 * repeatedly, so that old moments stay known at longer intervals.
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
