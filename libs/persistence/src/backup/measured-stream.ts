import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';
import { BackupError, type BackupTable } from './backup-header.js';

const NEWLINE = 0x0a;

/** Measurements of a table's COPY text: a row is a line, because COPY escapes newlines inside values. */
export class Measure {
  rows = 0;
  bytes = 0;
  private readonly hash = createHash('sha256');

  add(chunk: Buffer): void {
    this.bytes += chunk.length;
    this.hash.update(chunk);
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) this.rows += 1;
  }

  /** Call it once, after the end. */
  digest(): string {
    return this.hash.digest('hex');
  }

  /** @throws BackupError unless this is the text that the header describes; call it once, after the end. */
  requireSameAs(table: BackupTable): void {
    if (this.digest() === table.sha256 && this.rows === table.rows) return;
    throw new BackupError(
      `The backup is damaged: the rows of ${table.schema}.${table.name} are not those that were saved.`,
      `备份已损坏：${table.schema}.${table.name} 的数据行与保存时不一致。`,
    );
  }
}

/** Passes COPY text through and measures it; `onRows` gets the number of rows so far. */
export class MeasuredStream extends Transform {
  readonly measure = new Measure();

  constructor(onRows: (rows: number) => void = () => undefined) {
    super({
      transform: (chunk: Buffer, _encoding, done) => {
        this.measure.add(chunk);
        onRows(this.measure.rows);
        done(null, chunk);
      },
    });
  }
}
