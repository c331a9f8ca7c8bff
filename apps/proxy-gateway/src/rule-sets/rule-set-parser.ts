import { RuleSetFileError } from '@gatehouse/proxy-kernel';
import { Injectable } from '@nestjs/common';
import { readInThread } from '../threads/read-in-thread.js';
import { readRuleSet } from '../kernel-config/read-rule-set.js';
import type { ReadRuleSet, RuleSetForm } from '../kernel-config/read-rule-set.js';

export type ThreadAnswer = { set: ReadRuleSet } | { refused: string };

/** Up to this size a thread costs more than the parsing. */
const INLINE_BYTES = 64 * 1024;
const TIMEOUT_MS = 60_000;
const MAX_HEAP_MB = 1_024;

/** Parses rule sets without blocking the event loop: larger ones are parsed in a thread, one at a time. */
@Injectable()
export class RuleSetParser {
  private readonly entry: URL;
  private readonly execArgv: readonly string[];
  private turn: Promise<unknown> = Promise.resolve();

  constructor(entry = new URL('./rule-set-thread.js', import.meta.url), execArgv: readonly string[] = []) {
    this.entry = entry;
    this.execArgv = execArgv;
  }

  /** @throws RuleSetFileError for a file of another form, or one that takes more time or memory than any honest one. */
  async read(content: Buffer, form: RuleSetForm): Promise<ReadRuleSet> {
    // A few compressed bytes may stand for millions of entries.
    if (content.length <= INLINE_BYTES && form.format !== 'mrs' && form.format !== 'sing-box')
      return readRuleSet(content, form);
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
  return new RuleSetFileError('takes too much time or memory to read');
}
