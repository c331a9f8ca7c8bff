import { setFlowTimeout } from '@gatehouse/net';
/** As long as a visitor waits for anything: an agent that was there a moment ago is back. */
const MOVING_MS = 10_000;

/** Agents that are expected because the server has just begun: visitors who came before them wait. */
export class AgentArrivals {
  private readonly now: () => number;
  private readonly graceMs: number;
  private readonly came = new Set<number>();
  private readonly waiting = new Map<number, Set<() => void>>();
  private until = 0;
  private readonly moving = new Set<number>();
  private movingUntil = 0;

  constructor(now: () => number, graceMs: number) {
    this.now = now;
    this.graceMs = graceMs;
  }

  /** The port for agents is open, or about to be. `moving`: clients whose agents are sent here by the server before. */
  begin(moving: readonly number[] = []): void {
    this.until = this.now() + this.graceMs;
    if (moving.length > 0) this.movingUntil = this.now() + MOVING_MS;
    for (const clientId of moving) this.moving.add(clientId);
  }

  arrived(clientId: number): void {
    if (this.expects(clientId)) this.came.add(clientId);
    for (const resolve of this.waiting.get(clientId) ?? []) resolve();
  }

  /** Whether the client's agent may be on its way: it was not here yet, and the time for that is not over. */
  expects(clientId: number): boolean {
    return this.now() < this.untilOf(clientId) && !this.came.has(clientId);
  }

  /** Resolves when the agent is here, or is not expected any more. */
  async wait(clientId: number): Promise<void> {
    if (!this.expects(clientId)) return;
    const waiting = this.waiting.get(clientId) ?? new Set();
    this.waiting.set(clientId, waiting);
    await new Promise<void>((resolve) => {
      // Timers may be early, by a part of a millisecond of the clock that is asked afterwards.
      const timer = setFlowTimeout(null, done, this.untilOf(clientId) - this.now() + 1);
      waiting.add(done);
      function done(): void {
        clearTimeout(timer);
        waiting.delete(done);
        resolve();
      }
    });
    if (waiting.size === 0) this.waiting.delete(clientId);
  }

  private untilOf(clientId: number): number {
    return this.moving.has(clientId) ? Math.max(this.until, this.movingUntil) : this.until;
  }
}
