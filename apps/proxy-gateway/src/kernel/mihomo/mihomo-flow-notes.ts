import type { LoggedFlow } from './mihomo-flow-log.js';

/** mihomo gives up on a flow within five seconds of its first attempt. */
const FAILED_AFTER_MS = 6_000;
/** More flows than this between two looks are not noted; they are counted, but leave no record. */
const MAX_NOTES = 50_000;

export interface NotedFlow {
  flow: LoggedFlow;
  /** When the line was read. */
  at: number;
}

/**
 * Compares mihomo's log with its list of connections. The log has every flow, the list only those that are open at a
 * look, with their bytes. Each flow is counted once, whichever of the two shows it first.
 */
export class MihomoFlowNotes {
  /** Connected, and not yet in the list. */
  readonly #waiting = new Map<string, NotedFlow>();
  readonly #failing = new Map<string, NotedFlow>();
  /** In the list before their line was read, by the time of the look. */
  readonly #early = new Map<string, number>();

  /** Returns true if the flow is to be counted now. */
  connected(flow: LoggedFlow, at: number): boolean {
    const key = keyOf(flow);
    this.#failing.delete(key);
    if (this.#early.delete(key)) return false;
    if (!isRejected(flow) && this.#waiting.size < MAX_NOTES) this.#waiting.set(key, { flow, at });
    return true;
  }

  /** The first attempt says when the flow began, the last one why it failed. */
  failed(flow: LoggedFlow, at: number): void {
    const key = keyOf(flow);
    if (this.#failing.size < MAX_NOTES) this.#failing.set(key, { flow, at: this.#failing.get(key)?.at ?? at });
  }

  /** A connection is in the list for the first time. Returns true if it is to be counted now. */
  listed(flow: Pick<LoggedFlow, 'network' | 'source' | 'destination'>, at: number): boolean {
    const key = keyOf(flow);
    if (this.#waiting.delete(key)) return false;
    if (this.#early.size < MAX_NOTES) this.#early.set(key, at);
    return true;
  }

  /** The flows that were over before a look which began at `lookedAt`, and those that mihomo has given up. */
  over(lookedAt: number): { unseen: NotedFlow[]; failed: NotedFlow[] } {
    for (const [key, at] of this.#early) if (at < lookedAt) this.#early.delete(key);
    return {
      unseen: takeUntil(this.#waiting, lookedAt),
      failed: takeUntil(this.#failing, lookedAt - FAILED_AFTER_MS),
    };
  }
}

export function isRejected({ outbound }: Pick<LoggedFlow, 'outbound'>): boolean {
  return outbound === 'REJECT' || outbound === 'REJECT-DROP';
}

function takeUntil(notes: Map<string, NotedFlow>, limit: number): NotedFlow[] {
  const taken = [...notes].filter(([, { at }]) => at < limit);
  for (const [key] of taken) notes.delete(key);
  return taken.map(([, note]) => note);
}

function keyOf({ network, source, destination }: Pick<LoggedFlow, 'network' | 'source' | 'destination'>): string {
  return `${network} ${source} ${destination}`;
}
