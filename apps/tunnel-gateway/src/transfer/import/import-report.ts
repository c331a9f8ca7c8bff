import type { TransferLine } from '@gatehouse/contracts';

/** Nobody reads more lines. */
const MAX_LINES = 20_000;

export type Outcome = TransferLine['outcome'];

/** A place in a file. */
export interface Place {
  file: string;
  path: string;
}

/** The outcome of each line. */
export class ImportReport {
  readonly lines: TransferLine[] = [];
  readonly counts: Record<Outcome, number> = { taken: 0, no_counterpart: 0, refused: 0 };
  leftOut = 0;

  add(outcome: Outcome, { file, path }: Place, message: string): void {
    this.counts[outcome] += 1;
    if (this.lines.length < MAX_LINES) this.lines.push({ file, path, outcome, message });
    else this.leftOut += 1;
  }
}
