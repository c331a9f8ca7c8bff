import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { PlainFailure } from '../../bootstrap/failure.mjs';

export interface LocalCommand {
  name: string;
  command: readonly string[];
  environment: Readonly<Record<string, string>>;
  logFile: string;
}

const STOP_LIMIT_MS = 10_000;

/** A compose service's command as a process of this machine; what it prints goes to a file. */
export class LocalProcess {
  readonly name: string;
  readonly #child: ChildProcess;
  #lastWords = '';

  constructor({ name, command, environment, logFile }: LocalCommand) {
    this.name = name;
    const [program = '', ...args] = command;
    const log = createWriteStream(logFile);
    const env = { PATH: process.env['PATH'], ...environment };
    this.#child = spawn(program === 'node' ? process.execPath : program, args, {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on('data', (chunk: Buffer) => {
        log.write(chunk);
        this.#lastWords = (this.#lastWords + chunk.toString()).slice(-2000);
      });
    }
    this.#child.on('error', (error) => (this.#lastWords += error.message));
  }

  get running(): boolean {
    return this.#child.pid !== undefined && this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** Waits for a command to end. @throws PlainFailure with its last lines unless it ended with 0. */
  async completed(): Promise<void> {
    const [code] = (await once(this.#child, 'close')) as [number | null];
    if (code !== 0) throw this.failure(`ended with ${code}`);
  }

  /** Asks until `probe` is true. @throws PlainFailure when the process ends first or the time is up. */
  async healthy(probe: () => Promise<boolean>, limitMs: number): Promise<void> {
    const deadline = Date.now() + limitMs;
    while (!(await probe())) {
      if (!this.running) throw this.failure('ended before it was healthy');
      if (Date.now() > deadline) throw this.failure(`was not healthy within ${limitMs / 1000} s`);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  /** SIGTERM, as `docker compose down` does; the exit code, or null where it had to be killed. */
  async stop(): Promise<number | null> {
    if (!this.running) return this.#child.exitCode;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    const limit = setTimeout(() => this.#child.kill('SIGKILL'), STOP_LIMIT_MS);
    await ended;
    clearTimeout(limit);
    return this.#child.exitCode;
  }

  private failure(what: string): PlainFailure {
    return new PlainFailure(`${this.name} ${what}.`, { advice: this.#lastWords.trimEnd().split('\n').slice(-8) });
  }
}
