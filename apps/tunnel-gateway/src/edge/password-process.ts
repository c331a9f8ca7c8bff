import { fork, type ChildProcess } from 'node:child_process';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bareEnvironment } from '@gatehouse/child';
import { TunnelError } from '@gatehouse/tunnel-kernel';

export interface PasswordQuestion {
  id: number;
  encoded: string;
  password: string;
}

export interface PasswordAnswer {
  id: number;
  fits: boolean;
}

interface Waiting {
  resolve(fits: boolean): void;
  reject(error: TunnelError): void;
  timer: NodeJS.Timeout;
}

export interface PasswordProcessOptions {
  /** Flags for Node. */
  execArgv?: readonly string[];
  /** Time limit of a check, in milliseconds. */
  answerMs?: number;
  /** How long the idle process stays, in milliseconds. */
  idleMs?: number;
}

/** As this file: compiled, or from source in tests. */
const PROGRAM = new URL(`./password-main${extname(import.meta.url)}`, import.meta.url);

/**
 * Hashes visitors' passwords outside the edge, in a process of low priority: a flood of guesses takes no processor time
 * from other visitors. The process starts with the first check, ends when idle, and is restarted if it dies.
 */
export class PasswordProcess {
  private readonly options: Required<PasswordProcessOptions>;
  private child: ChildProcess | null = null;
  private readonly waiting = new Map<number, Waiting>();
  private nextId = 1;
  private idle: NodeJS.Timeout | null = null;
  private closed = false;

  constructor({ execArgv = process.execArgv, answerMs = 10_000, idleMs = 300_000 }: PasswordProcessOptions = {}) {
    this.options = { execArgv, answerMs, idleMs };
  }

  /** @throws TunnelError `overloaded` if there is no answer in time, or the process died before it answered. */
  readonly verify = async (encoded: string, password: string): Promise<boolean> => {
    if (this.closed) throw unavailable();
    const child = (this.child ??= this.start());
    if (this.idle) clearTimeout(this.idle);
    return new Promise((resolve, reject) => {
      const id = this.nextId++;
      const timer = setTimeout(() => {
        this.settle(id, (waiting) => waiting.reject(unavailable()));
        // It normally answers within milliseconds. If it does not, it is replaced.
        child.kill('SIGKILL');
      }, this.options.answerMs);
      this.waiting.set(id, { resolve, reject, timer });
      child.send({ id, encoded, password } satisfies PasswordQuestion, (error) => {
        if (error) this.settle(id, (waiting) => waiting.reject(unavailable()));
      });
    });
  };

  close(): void {
    this.closed = true;
    if (this.idle) clearTimeout(this.idle);
    this.end();
  }

  private start(): ChildProcess {
    const child = fork(fileURLToPath(PROGRAM), [], {
      execArgv: [...this.options.execArgv],
      // Each request carries everything it needs.
      env: bareEnvironment(),
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    // Only traffic keeps the edge alive.
    child.unref();
    child.channel?.unref();
    child.on('message', ({ id, fits }: PasswordAnswer) => this.settle(id, (waiting) => waiting.resolve(fits)));
    child.on('error', () => this.lost(child));
    child.on('exit', () => this.lost(child));
    return child;
  }

  private lost(child: ChildProcess): void {
    if (this.child !== child) return;
    this.child = null;
    for (const id of this.waiting.keys()) this.settle(id, (waiting) => waiting.reject(unavailable()));
  }

  private settle(id: number, how: (waiting: Waiting) => void): void {
    const waiting = this.waiting.get(id);
    if (!waiting) return;
    this.waiting.delete(id);
    clearTimeout(waiting.timer);
    how(waiting);
    if (this.waiting.size > 0) return;
    if (this.idle) clearTimeout(this.idle);
    this.idle = setTimeout(() => this.end(), this.options.idleMs).unref();
  }

  /** The process ends with the channel. */
  private end(): void {
    const { child } = this;
    if (!child) return;
    this.lost(child);
    if (child.connected) child.disconnect();
  }
}

function unavailable(): TunnelError {
  return new TunnelError('overloaded', 'passwords cannot be checked now');
}
