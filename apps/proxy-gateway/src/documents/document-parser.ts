import { parseSubscription } from '@gatehouse/subscription-formats';
import type { ParsedEntry, ParsedSubscription, ParseOptions } from '@gatehouse/subscription-formats';
import { Injectable } from '@nestjs/common';
import { readInThread } from '../threads/read-in-thread.js';
import { FetchFailure } from './fetch-failure.js';

/**
 * Up to this size a thread costs more than the parsing. The slowest document of this size takes about ten milliseconds.
 */
const INLINE_BYTES = 16 * 1024;
const TIMEOUT_MS = 30_000;
const MAX_HEAP_MB = 512;

/** Parses documents without blocking the event loop: larger ones are parsed in a thread, one at a time. */
@Injectable()
export class DocumentParser {
  private readonly entry: URL;
  private readonly execArgv: readonly string[];
  private turn: Promise<unknown> = Promise.resolve();

  constructor(entry = new URL('./parser-thread.js', import.meta.url), execArgv: readonly string[] = []) {
    this.entry = entry;
    this.execArgv = execArgv;
  }

  /**
   * Parses a document; the entries come without their `raw` text.
   * @throws FetchFailure `parse_error` for a document that takes more time or memory than any honest one.
   */
  async parse(content: Buffer, options: ParseOptions): Promise<ParsedSubscription> {
    if (content.length <= INLINE_BYTES) return parseSubscription(content, options);
    const run = this.turn.then(() => this.parseInThread(content, options));
    this.turn = run.catch(() => undefined);
    return run;
  }

  private parseInThread(content: Buffer, options: ParseOptions): Promise<ParsedSubscription> {
    const nodes: ParsedEntry[] = [];
    return readInThread<ParsedEntry[] | ParsedSubscription, ParsedSubscription>({
      entry: this.entry,
      execArgv: this.execArgv,
      workerData: { content, options },
      timeoutMs: TIMEOUT_MS,
      maxHeapMb: MAX_HEAP_MB,
      receive(part, worker) {
        if (!Array.isArray(part)) return { ...part, nodes };
        nodes.push(...part);
        // Other work gets a turn before the next slice is unpacked.
        setImmediate(() => worker.postMessage('more'));
        return undefined;
      },
      tooDemanding,
    });
  }
}

function tooDemanding(cause?: unknown): FetchFailure {
  const message = 'The reply takes too much time or memory to read.';
  return new FetchFailure('parse_error', message, { cause });
}
