import { PendingRequests } from '@gatehouse/net';
import { SYSTEM_CLOCK, type Clock } from './clock.js';

/** The part of a `ChildProcess` that supervision needs. */
export interface ChildLike<Sent, Received> {
  readonly pid?: number | undefined;
  send(message: Sent, callback: (error: Error | null) => void): boolean;
  kill(signal: 'SIGKILL' | 'SIGTERM'): boolean;
  on(event: 'message', listener: (message: Received, handle?: unknown) => void): unknown;
  on(event: 'exit', listener: (code: number | null, signal: string | null) => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** One row for each thing that the child can be asked. */
export type Calls<C> = { [M in keyof C]: { params: unknown; result: unknown } };

export interface Answer {
  type: 'response';
  id: number;
  ok: boolean;
  result?: unknown;
}

export interface ChildLinkOptions<Received> {
  /** As messages name the child: `The kernel ended: …`. */
  name: string;
  clock?: Clock;
  /** The error of a request that nobody answers. */
  unavailable: (message: string, cause?: unknown) => Error;
  /** The error that an answer with `ok: false` stands for. */
  errorOf(answer: Received): Error;
  /** Every message but answers. */
  onMessage(message: Exclude<Received, Answer>, handle: unknown): void;
  /** Once. `reason` is what `kill` was given, or how the process ended. */
  onExit(reason: string): void;
}

export interface HeartbeatOptions {
  everyMs: number;
  /** Heartbeats without an answer in a row until the process counts as hung. */
  missed: number;
  /** The same before the first answer: a process takes its time to start on a busy machine. */
  missedAtStart?: number;
}

/** The parent's end of one child process, from its start to its end: requests with answers, heartbeats, why it ended. */
export class ChildLink<C extends Calls<C>, Sent, Received extends { type: string }> {
  readonly exited: Promise<void>;
  private readonly child: ChildLike<Sent, Received>;
  private readonly options: ChildLinkOptions<Received>;
  private readonly clock: Clock;
  private readonly pending: PendingRequests;
  private resolveExited: () => void = () => undefined;
  private cancelBeat: () => void = () => undefined;
  private missed = 0;
  private hasAnswered = false;
  private killedFor: string | null = null;
  private gone = false;

  constructor(child: ChildLike<Sent, Received>, options: ChildLinkOptions<Received>) {
    this.child = child;
    this.options = options;
    this.clock = options.clock ?? SYSTEM_CLOCK;
    this.pending = new PendingRequests((ms, run) => this.clock.after(ms, run));
    this.exited = new Promise((resolve) => {
      this.resolveExited = resolve;
    });
    child.on('message', (message, handle) => this.receive(message, handle));
    child.on('exit', (code, signal) => this.ended(signal ? `killed by ${signal}` : `exit code ${code ?? 'unknown'}`));
    child.on('error', (error) => {
      // One that did not start has no exit. Any other error is followed by one.
      if (child.pid === undefined) this.ended(error.message);
    });
  }

  get pid(): number | null {
    return this.child.pid ?? null;
  }

  get isGone(): boolean {
    return this.gone;
  }

  /** @throws the error of `unavailable` when the process ends or does not answer in time; that of `errorOf`. */
  request<M extends keyof C & string>(method: M, params: C[M]['params'], timeoutMs: number): Promise<C[M]['result']> {
    return this.ask(method, params, timeoutMs);
  }

  private ask(method: string, params: unknown, timeoutMs: number): Promise<unknown> {
    const { name, unavailable } = this.options;
    if (this.gone) return Promise.reject(unavailable(`The ${name} is not running.`));
    return this.pending.add(
      timeoutMs,
      (id) =>
        this.child.send({ type: 'request', id, method, params } as Sent, (error) => {
          if (error) this.pending.reject(id, unavailable(`The ${name} cannot be reached.`, error));
        }),
      () => unavailable(`The ${name} did not answer ${method} within ${timeoutMs} ms.`),
    );
  }

  /** A message that wants no answer. */
  send(message: Sent): void {
    if (!this.gone) this.child.send(message, () => undefined);
  }

  /** Asks `ping` again and again, and kills a process that does not answer. */
  watch({ everyMs, missed, missedAtStart = missed }: HeartbeatOptions): void {
    const limit = (): number => (this.hasAnswered ? missed : missedAtStart);
    const beat = (): void => {
      this.cancelBeat = this.clock.after(everyMs, beat);
      this.ask('ping', null, everyMs - everyMs / 10).then(
        () => {
          this.missed = 0;
          this.hasAnswered = true;
        },
        () => {
          this.missed += 1;
          if (this.missed >= limit()) this.kill(`no answer for ${(this.missed * everyMs) / 1000} s`);
        },
      );
    };
    this.cancelBeat();
    this.cancelBeat = this.clock.after(everyMs, beat);
  }

  /** `reason` is what `onExit` says. */
  kill(reason: string | null = null): void {
    this.killedFor ??= reason;
    this.child.kill('SIGKILL');
  }

  private receive(message: Received, handle: unknown): void {
    if (!isAnswer(message)) return this.options.onMessage(message as Exclude<Received, Answer>, handle);
    if (message.ok) this.pending.resolve(message.id, message.result);
    else this.pending.reject(message.id, this.options.errorOf(message));
  }

  private ended(how: string): void {
    if (this.gone) return;
    this.gone = true;
    this.cancelBeat();
    const reason = this.killedFor ?? how;
    this.pending.rejectAll(this.options.unavailable(`The ${this.options.name} ended: ${reason}.`));
    this.resolveExited();
    this.options.onExit(reason);
  }
}

function isAnswer<Received extends { type: string }>(message: Received): message is Received & Answer {
  return message.type === 'response';
}
