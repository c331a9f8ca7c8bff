import type { TransferLine } from '@gatehouse/contracts';
import { readerTexts } from '@gatehouse/platform';
import { TUNNEL_ERROR_TEXTS } from '../../error-texts.zh-CN.js';
import { IMPORT_TEXTS } from '../../import-texts.zh-CN.js';

/** Reasons are in the language of the reader; those of refused rows are errors of the service. */
const readerText = readerTexts({ ...TUNNEL_ERROR_TEXTS, ...IMPORT_TEXTS });

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
    if (this.lines.length < MAX_LINES) this.lines.push({ file, path, outcome, message: readerText(message) });
    else this.leftOut += 1;
  }
}
