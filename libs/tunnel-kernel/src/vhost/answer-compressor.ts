import {
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  type BrotliCompress,
  type Gzip,
  type ZstdCompress,
} from 'node:zlib';
import { guarded } from '@gatehouse/net';
import type { Coding } from './compression.js';

/** Of what each answer keeps in memory, and of what it can refer back to: 256 KiB, and 32 KiB for gzip. */
const WINDOW_BITS = 18;
/** At a time, of this process: each needs up to 1.6 MB for as long as its visitor reads. Further answers stay as they are. */
export const MAX_COMPRESSORS = 256;
const BROTLI_QUALITY = 4;
const ZSTD_LEVEL = 3;
const GZIP_LEVEL = 5;

export interface CompressorOptions {
  coding: Coding;
  /** What comes is passed on before the target sends more. */
  flushes: boolean;
  onPart: (part: Buffer) => void;
  /** More can be written after `write` returned false. */
  onDrain: () => void;
  onEnd: () => void;
  onError: (error: Error) => void;
}

/** Compresses the body of one answer; while it is paused it takes no more than its buffers hold. */
export class AnswerCompressor {
  private static running = 0;
  private readonly stream: Gzip | BrotliCompress | ZstdCompress;
  private readonly flushes: boolean;
  private readonly flushKind: number;
  private flushing: NodeJS.Immediate | null = null;

  constructor({ coding, flushes, onPart, onDrain, onEnd, onError }: CompressorOptions) {
    [this.stream, this.flushKind] = open(coding);
    this.flushes = flushes;
    AnswerCompressor.running += 1;
    this.stream.once('close', () => {
      AnswerCompressor.running -= 1;
    });
    this.stream.on('data', onPart).on('drain', onDrain).on('end', onEnd).on('error', onError);
  }

  static get hasRoom(): boolean {
    return AnswerCompressor.running < MAX_COMPRESSORS;
  }

  /** False: wait for `onDrain`. */
  write(chunk: Buffer): boolean {
    const goesOn = this.stream.write(chunk);
    // Parts that came together are compressed together.
    if (this.flushes) this.flushing ??= setImmediate(guarded(this, () => this.flush()));
    return goesOn;
  }

  end(): void {
    this.forget();
    this.stream.end();
  }

  pause(): void {
    this.stream.pause();
  }

  resume(): void {
    this.stream.resume();
  }

  destroy(): void {
    this.forget();
    this.stream.destroy();
  }

  private flush(): void {
    this.flushing = null;
    if (!this.stream.destroyed && !this.stream.writableEnded) this.stream.flush(this.flushKind);
  }

  private forget(): void {
    if (this.flushing) clearImmediate(this.flushing);
    this.flushing = null;
  }
}

function open(coding: Coding): [Gzip | BrotliCompress | ZstdCompress, number] {
  if (coding === 'gzip') return [createGzip({ level: GZIP_LEVEL }), constants.Z_SYNC_FLUSH];
  if (coding === 'br') {
    const params = {
      [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: WINDOW_BITS,
    };
    return [createBrotliCompress({ params }), constants.BROTLI_OPERATION_FLUSH];
  }
  const params = {
    [constants.ZSTD_c_compressionLevel]: ZSTD_LEVEL,
    [constants.ZSTD_c_windowLog]: WINDOW_BITS,
  };
  return [createZstdCompress({ params }), constants.ZSTD_e_flush];
}
