import { SteadyTraffic } from '../trials/steady-traffic.js';

/** What a user does: asks an API, visits a tunnel or a host, goes through the proxy. */
export type Kind = 'requests' | 'visitors' | 'proxied';
export const KINDS: readonly Kind[] = ['requests', 'visitors', 'proxied'];

/** What users of one kind noticed since some moment. */
export interface Tally {
  /** Of those who began since. */
  done: number;
  failed: number;
  slowestSeconds: number;
  /** When the last one began who failed; 0: nobody did. */
  lastFailedSeconds: number;
  /** Of those who had begun before. */
  cut: number;
}

/** So many of each must have been served, one after the other. */
const WELL = 3;
const MAX_FAILURES = 40;

/** Users of a platform, who come at an even pace whatever becomes of those before. */
export class UserStreams {
  /** What went wrong, the first few. */
  readonly failures: string[] = [];
  private readonly streams: { kind: Kind; traffic: SteadyTraffic }[] = [];

  /** `slowness`: how many times longer than usual the pauses between two users are. */
  constructor(private readonly slowness = 1) {}

  /** `act` rejects where a user sees a failure. */
  add(kind: Kind, name: string, everyMs: number, act: () => Promise<unknown>): void {
    const traffic = new SteadyTraffic(name, everyMs * this.slowness, async () => {
      const startedAt = new Date().toISOString().slice(11, 23);
      try {
        await act();
        return true;
      } catch (error) {
        if (this.failures.length < MAX_FAILURES) this.failures.push(`${startedAt} ${name}: ${describe(error)}`);
        return false;
      }
    });
    this.streams.push({ kind, traffic });
  }

  isWell(): boolean {
    return this.streams.every(({ traffic }) => traffic.isWell(WELL));
  }

  /** Names of those to whom something happens that should not. */
  unwell(): string[] {
    return this.streams.filter(({ traffic }) => !traffic.isWell(WELL)).map(({ traffic }) => traffic.name);
  }

  /** Nobody comes until resume(); resolves when all have left. */
  async pause(): Promise<void> {
    await Promise.all(this.streams.map(({ traffic }) => traffic.pause()));
  }

  resume(): void {
    for (const { traffic } of this.streams) traffic.resume();
  }

  async stop(): Promise<void> {
    await Promise.all(this.streams.map(({ traffic }) => traffic.stop()));
  }

  /** What users noticed since that moment of performance.now(). Waits for those that are under way. */
  async since(moment: number): Promise<Record<Kind, Tally>> {
    const tallies = await Promise.all(KINDS.map((kind) => this.tally(kind, moment)));
    return Object.fromEntries(KINDS.map((kind, at) => [kind, tallies[at]])) as Record<Kind, Tally>;
  }

  private async tally(kind: Kind, moment: number): Promise<Tally> {
    const streams = this.streams.filter((stream) => stream.kind === kind);
    const ended = (await Promise.all(streams.map(({ traffic }) => traffic.endedSince(moment)))).flat();
    const [before, since] = [
      ended.filter(({ startedAt }) => startedAt < moment),
      ended.filter(({ startedAt }) => startedAt >= moment),
    ];
    const took = since.map(({ startedAt, endedAt }) => endedAt - startedAt);
    const failed = since.filter(({ ok }) => !ok);
    return {
      done: since.length,
      failed: failed.length,
      slowestSeconds: Math.max(0, ...took) / 1_000,
      lastFailedSeconds: Math.max(0, ...failed.map(({ startedAt }) => startedAt - moment)) / 1_000,
      cut: before.filter(({ ok }) => !ok).length,
    };
  }
}

/** With what is behind a failed fetch. */
function describe(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return `${String(error)}${cause}`;
}
