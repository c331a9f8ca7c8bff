/** Agents that are expected because the server has just begun: visitors who came before them wait. */
export class AgentArrivals {
  private readonly now: () => number;
  private readonly graceMs: number;
  private readonly came = new Set<number>();
  private readonly waiting = new Map<number, Set<() => void>>();
  private until = 0;

  constructor(now: () => number, graceMs: number) {
    this.now = now;
    this.graceMs = graceMs;
  }

  /** The port for agents is open. */
  begin(): void {
    this.until = this.now() + this.graceMs;
  }

  arrived(clientId: number): void {
    if (this.expects(clientId)) this.came.add(clientId);
    for (const resolve of this.waiting.get(clientId) ?? []) resolve();
  }

  /** Whether the client's agent may be on its way: it was not here yet, and the time for that is not over. */
  expects(clientId: number): boolean {
    return this.now() < this.until && !this.came.has(clientId);
  }

  /** Resolves when the agent is here, or is not expected any more. */
  async wait(clientId: number): Promise<void> {
    if (!this.expects(clientId)) return;
    const waiting = this.waiting.get(clientId) ?? new Set();
    this.waiting.set(clientId, waiting);
    await new Promise<void>((resolve) => {
      // Timers may be early, by a part of a millisecond of the clock that is asked afterwards.
      const timer = setTimeout(done, this.until - this.now() + 1);
      waiting.add(done);
      function done(): void {
        clearTimeout(timer);
        waiting.delete(done);
        resolve();
      }
    });
    if (waiting.size === 0) this.waiting.delete(clientId);
  }
}
