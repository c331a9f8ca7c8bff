import { setFlowTimeout } from '@gatehouse/net';
/** As long as a visitor waits for anything else. An agent that was connected a moment ago is back by then. */
const MOVING_MS = 10_000;

/**
 * Agents that are expected: shortly after the server started, or while it does not know which agents other servers have.
 * Visitors that come before them wait.
 */
export class AgentArrivals {
  private readonly now: () => number;
  private readonly graceMs: number;
  private readonly came = new Set<number>();
  private readonly waiting = new Map<number, Set<() => void>>();
  private until = 0;
  private readonly moving = new Set<number>();
  private movingUntil = 0;
  private othersUntil = 0;

  constructor(now: () => number, graceMs: number) {
    this.now = now;
    this.graceMs = graceMs;
  }

  /** Starts when the port for agents opens. `moving`: clients whose agents are sent here by another server. */
  begin(moving: readonly number[] = []): void {
    this.until = this.now() + this.graceMs;
    if (moving.length > 0) this.movingUntil = this.now() + MOVING_MS;
    for (const clientId of moving) this.moving.add(clientId);
  }

  /**
   * Which agents other servers have is not known, `until` this time at most. 0: all of them are known, and clients that
   * are not among them are offline.
   */
  awaitOthers(until: number): void {
    this.othersUntil = until;
    for (const [clientId, waiting] of this.waiting) {
      if (!this.expects(clientId)) for (const resolve of waiting) resolve();
    }
  }

  arrived(clientId: number): void {
    if (this.expectsFirst(clientId)) this.came.add(clientId);
    for (const resolve of this.waiting.get(clientId) ?? []) resolve();
  }

  /** Whether the client's agent may still be on its way: it has not connected yet, and there is time left for it. */
  expects(clientId: number): boolean {
    return this.now() < this.othersUntil || this.expectsFirst(clientId);
  }

  /** Resolves when the agent has connected, or is no longer expected. */
  async wait(clientId: number): Promise<void> {
    if (!this.expects(clientId)) return;
    const waiting = this.waiting.get(clientId) ?? new Set();
    this.waiting.set(clientId, waiting);
    await new Promise<void>((resolve) => {
      // A timer may fire a fraction of a millisecond early by the clock that is read afterwards.
      const until = Math.max(this.othersUntil, this.expectsFirst(clientId) ? this.untilOf(clientId) : 0);
      const timer = setFlowTimeout(null, done, until - this.now() + 1);
      waiting.add(done);
      function done(): void {
        clearTimeout(timer);
        waiting.delete(done);
        resolve();
      }
    });
    if (waiting.size === 0) this.waiting.delete(clientId);
  }

  private expectsFirst(clientId: number): boolean {
    return this.now() < this.untilOf(clientId) && !this.came.has(clientId);
  }

  private untilOf(clientId: number): number {
    return this.moving.has(clientId) ? Math.max(this.until, this.movingUntil) : this.until;
  }
}
