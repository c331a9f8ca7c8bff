import { RuleSetFileError } from '@gatehouse/proxy-kernel';
import { Injectable } from '@nestjs/common';
import { readInThread } from '../threads/read-in-thread.js';
import { readRuleSet } from '../kernel-config/read-rule-set.js';
import type { ReadRuleSet, RuleSetForm } from '../kernel-config/read-rule-set.js';

export type ThreadAnswer = { set: ReadRuleSet } | { refused: string };

/** Up to here a thread costs more than the reading. */
const INLINE_BYTES = 64 * 1024;
const TIMEOUT_MS = 60_000;
const MAX_HEAP_MB = 1_024;

/** Reads rule sets without holding up the event loop: all but the small ones in a thread of their own, one at a time. */
@Injectable()
export class RuleSetParser {
  private readonly entry: URL;
  private readonly execArgv: readonly string[];
  private turn: Promise<unknown> = Promise.resolve();

  constructor(entry = new URL('./rule-set-thread.js', import.meta.url), execArgv: readonly string[] = []) {
    this.entry = entry;
    this.execArgv = execArgv;
  }

  /** @throws RuleSetFileError for a file that is none of that form, or takes more than any honest one to read. */
  async read(content: Buffer, form: RuleSetForm): Promise<ReadRuleSet> {
    // Compressed, a few bytes may stand for millions.
    if (content.length <= INLINE_BYTES && form.format !== 'mrs') return readRuleSet(content, form);
    const run = this.turn.then(() => this.readInThread(content, form));
    this.turn = run.catch(() => undefined);
    return run;
  }

  private readInThread(content: Buffer, form: RuleSetForm): Promise<ReadRuleSet> {
    return readInThread<ThreadAnswer, ReadRuleSet>({
      entry: this.entry,
      execArgv: this.execArgv,
      workerData: { content, form },
      timeoutMs: TIMEOUT_MS,
      maxHeapMb: MAX_HEAP_MB,
      receive(answer) {
        if ('refused' in answer) throw new RuleSetFileError(answer.refused);
        return answer.set;
      },
      tooDemanding,
    });
  }
}

function tooDemanding(): RuleSetFileError {
  return new RuleSetFileError('takes more time or memory to read than any honest one');
}
