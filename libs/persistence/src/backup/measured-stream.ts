import { createHash } from 'node:crypto';
import { Transform } from 'node:stream';

const NEWLINE = 0x0a;

/** Passes COPY text through and measures it: a row is a line, for COPY escapes newlines inside values. */
export class MeasuredStream extends Transform {
  rows = 0;
  bytes = 0;
  private readonly hash = createHash('sha256');

  constructor() {
    super({
      transform: (chunk: Buffer, _encoding, done) => {
        this.bytes += chunk.length;
        this.hash.update(chunk);
        for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, at + 1)) this.rows += 1;
        done(null, chunk);
      },
    });
  }

  /** Call it once, after the end. */
  digest(): string {
    return this.hash.digest('hex');
  }
}
