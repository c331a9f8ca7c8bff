/** Concurrent requests, in total and for one client: each queries the database a few times, and waits for its form. */
const MAX_AT_ONCE = 64;
const MAX_OF_ONE = 8;

/** Keeps slow senders from blocking the page for everybody else. */
export class VisitorTurns {
  private readonly running = new Map<string, number>();
  private all = 0;

  /** False: there are too many. */
  take(client: string): boolean {
    const own = this.running.get(client) ?? 0;
    if (this.all >= MAX_AT_ONCE || own >= MAX_OF_ONE) return false;
    this.running.set(client, own + 1);
    this.all += 1;
    return true;
  }

  done(client: string): void {
    const own = this.running.get(client) ?? 0;
    if (own > 1) this.running.set(client, own - 1);
    else this.running.delete(client);
    this.all -= 1;
  }
}
