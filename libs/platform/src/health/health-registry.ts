import { deferred } from '../async/deferred.js';
import type { JsonLogger } from '../logging/json-logger.js';

export type HealthCheck = () => Promise<unknown>;

export interface HealthReport {
  /** `degraded`: requests are served, but something behind the service needs an operator. */
  readonly status: 'ok' | 'degraded' | 'unavailable';
  readonly failing: readonly string[];
  readonly degraded?: readonly string[];
  readonly checks: Readonly<Record<string, { ok: boolean; duration_ms: number }>>;
}

interface Registered {
  readonly check: HealthCheck;
  readonly timeoutMs: number;
  readonly degrades: boolean;
  healthy: boolean;
}

interface Outcome {
  readonly name: string;
  readonly ok: boolean;
  readonly degrades: boolean;
  readonly duration_ms: number;
}

export interface HealthCheckOptions {
  /** Default 2,000. */
  timeoutMs?: number;
  /** A failure is reported, but this process can serve. */
  degrades?: boolean;
}

const REUSE_MS = 1_000;

/** Checks that decide whether this process can serve. A check fails when it rejects or takes too long. */
export class HealthRegistry {
  private readonly registered = new Map<string, Registered>();
  private readonly logger: JsonLogger;
  private latest: { at: number; report: Promise<HealthReport> } | undefined;
  private draining = false;

  constructor(logger: JsonLogger) {
    this.logger = logger;
  }

  /** Adds a check, or replaces the one with that name; returns a function that removes it. */
  register(
    name: string,
    check: HealthCheck,
    { timeoutMs = 2_000, degrades = false }: HealthCheckOptions = {},
  ): () => void {
    const entry: Registered = { check, timeoutMs, degrades, healthy: true };
    this.registered.set(name, entry);
    this.latest = undefined;
    return () => {
      if (this.registered.get(name) === entry) this.registered.delete(name);
      this.latest = undefined;
    };
  }

  /** Not ready from now on: load balancers stop sending requests while the last ones finish. */
  startDraining(): void {
    this.draining = true;
  }

  /** True once the process is stopping: endless answers must end now. */
  get isDraining(): boolean {
    return this.draining;
  }

  /** Result of all checks; callers within a second share one run. */
  async report(): Promise<HealthReport> {
    if (this.draining) return { status: 'unavailable', failing: ['shutdown'], checks: {} };
    const now = Date.now();
    if (this.latest === undefined || now - this.latest.at >= REUSE_MS || now < this.latest.at) {
      this.latest = { at: now, report: this.runAll() };
    }
    return this.latest.report;
  }

  private async runAll(): Promise<HealthReport> {
    const results = await Promise.all([...this.registered].map(([name, entry]) => this.run(name, entry)));
    const bad = results.filter(({ ok }) => !ok);
    const failing = bad.filter(({ degrades }) => !degrades).map(({ name }) => name);
    const degraded = bad.filter(({ degrades }) => degrades).map(({ name }) => name);
    const checks = Object.fromEntries(results.map(({ name, ok, duration_ms }) => [name, { ok, duration_ms }]));
    const status = failing.length > 0 ? 'unavailable' : degraded.length > 0 ? 'degraded' : 'ok';
    return { status, failing, ...(degraded.length > 0 && { degraded }), checks };
  }

  private async run(name: string, entry: Registered): Promise<Outcome> {
    const started = performance.now();
    const failure = await outcome(entry);
    const ok = failure === undefined;
    // One line when the state changes, not one per poll.
    if (!ok && entry.healthy) this.logger.warn(`check ${name} fails`, { error: failure }, 'Health');
    if (ok && !entry.healthy) this.logger.log(`check ${name} passes again`, 'Health');
    entry.healthy = ok;
    return { name, ok, degrades: entry.degrades, duration_ms: Math.round(performance.now() - started) };
  }
}

async function outcome({ check, timeoutMs }: Registered): Promise<Error | undefined> {
  const { promise: expired, reject } = deferred<never>();
  const timer = setTimeout(() => reject(new Error(`no answer in ${timeoutMs} ms`)), timeoutMs);
  try {
    await Promise.race([Promise.resolve().then(check), expired]);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error('the check failed', { cause: error });
  } finally {
    clearTimeout(timer);
  }
}
