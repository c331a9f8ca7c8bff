import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { ChildProcess, ChildProcessWithoutNullStreams } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { MihomoApi } from './mihomo-api.js';
import { mihomoBasics } from './mihomo-config.js';
import { readLogLine } from './mihomo-flow-log.js';

const SOCKET = 'control.sock';
const START_LIMIT_MS = 10_000;
const POLL_MS = 50;
const STOP_LIMIT_MS = 2_000;
/** How much of the output is kept, for the error of a program that did not start. */
const KEPT_OUTPUT = 2_000;

/**
 * Runs the program named by its arguments while its input stays open. The kernel holds the other end, which the system
 * closes even after SIGKILL, so that no program is left behind carrying traffic.
 */
const GUARD = `
exec 3<&0 </dev/null
"$@" 3<&- &
program=$!
trap 'kill -TERM "$program" 2>/dev/null' TERM
{ while read -r _; do :; done <&3; kill -KILL "$program"; } >/dev/null 2>&1 &
watch=$!
exec 3<&-
wait "$program"; status=$?
while kill -0 "$program" 2>/dev/null; do wait "$program"; status=$?; done
kill -KILL "$watch" 2>/dev/null
exit "$status"`;

/** A longer line of output is cut. */
const MAX_LINE = 64 * 1_024;
const CHECK_LIMIT_MS = 20_000;

export interface ProgramOptions {
  executable: string;
  onExit: (reason: string) => void;
}

/**
 * A mihomo process of ours. Its control socket has no password, so it lies in a folder that only our user can enter.
 */
export class MihomoProgram {
  readonly api: MihomoApi;
  readonly socket = SOCKET;
  readonly #home: string;
  readonly #options: ProgramOptions;
  readonly #lineListeners = new Set<(line: string) => void>();
  #child: ChildProcess | null = null;
  #output = '';
  #stopping = false;

  constructor(options: ProgramOptions) {
    this.#options = options;
    this.#home = mkdtempSync(join(tmpdir(), 'gatehouse-mihomo-'));
    chmodSync(this.#home, 0o700);
    this.api = new MihomoApi(join(this.#home, SOCKET));
  }

  /** Resolves when it answers. @throws Error with its output if it does not. */
  async start(): Promise<{ version: string }> {
    const file = join(this.#home, 'config.yaml');
    writeFileSync(file, JSON.stringify(mihomoBasics(SOCKET)), { mode: 0o600 });
    const child = spawnGuarded(this.#options.executable, ['-d', this.#home, '-f', file]);
    this.#child = child;
    // The pipe breaks when the guard ends.
    child.stdin.on('error', () => undefined);
    // However this process ends, mihomo must end too: it would carry unrecorded traffic on ports that its successor
    // needs.
    const takeAlong = (): void => this.#abandon(child);
    process.once('exit', takeAlong);
    for (const stream of [child.stdout, child.stderr]) {
      const lines = new LineBuffer((line) => this.#onLine(line));
      stream.on('data', (chunk: Buffer) => lines.add(chunk.toString('latin1')));
    }
    const ended = Promise.withResolvers<never>();
    // Not every caller waits for the end, so the rejection must not go unhandled.
    ended.promise.catch(() => undefined);
    const gone = (reason: string): void => {
      if (this.#child === null) return;
      this.#child = null;
      process.off('exit', takeAlong);
      ended.reject(new Error(`mihomo ended (${reason}): ${this.#output.trim()}`));
      if (!this.#stopping) this.#options.onExit(reason);
    };
    child.on('error', (error) => gone(error.message));
    child.on('exit', (code, signal) => gone(signal ?? `code ${code}`));
    return Promise.race([ended.promise, this.#answering()]);
  }

  /** Another one of the same program, which is not started. */
  another(): MihomoProgram {
    return new MihomoProgram({ ...this.#options, onExit: () => undefined });
  }

  /** Calls back with each line of output. */
  onLine(listener: (line: string) => void): void {
    this.#lineListeners.add(listener);
  }

  /** Why mihomo would refuse a configuration; null if it would take it. The running program is not asked. */
  async check(config: object): Promise<string | null> {
    const file = join(this.#home, `check-${randomUUID()}.yaml`);
    await writeFile(file, JSON.stringify(config), { mode: 0o600 });
    try {
      const options = { env: {}, timeout: CHECK_LIMIT_MS, maxBuffer: 16 * 1_048_576 };
      await promisify(execFile)(this.#options.executable, ['-t', '-d', this.#home, '-f', file], options);
      return null;
    } catch (error) {
      const output = typeof error === 'object' && error !== null && 'stdout' in error ? String(error.stdout) : '';
      const lines = output.split('\n').map(readLogLine);
      return lines.find(({ level }) => level === 'error' || level === 'fatal')?.message ?? String(error);
    } finally {
      await rm(file, { force: true });
    }
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    await this.api.close();
    const child = this.#child;
    if (child) {
      const exit = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      const timer = setTimeout(() => end(child), STOP_LIMIT_MS);
      await exit;
      clearTimeout(timer);
    }
    rmSync(this.#home, { recursive: true, force: true });
  }

  #abandon(child: ChildProcess): void {
    end(child);
    rmSync(this.#home, { recursive: true, force: true });
  }

  async #answering(): Promise<{ version: string }> {
    const limit = Date.now() + START_LIMIT_MS;
    for (;;) {
      try {
        return await this.api.version();
      } catch (error) {
        // The socket does not exist yet.
        if (Date.now() > limit) throw new Error(`mihomo did not answer within ${START_LIMIT_MS} ms`, { cause: error });
        await pause(POLL_MS);
      }
    }
  }

  #onLine(line: string): void {
    this.#output = `${this.#output}${line}\n`.slice(-KEPT_OUTPUT);
    for (const listener of this.#lineListeners) listener(line);
  }
}

/** Cuts output into lines, of which a chunk may hold only a part. */
class LineBuffer {
  readonly #onLine: (line: string) => void;
  #rest = '';

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine;
  }

  /** @param text bytes as characters, since a chunk may end within a character. */
  add(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = (lines.pop() ?? '').slice(0, MAX_LINE);
    for (const line of lines) {
      const whole = Buffer.from(line.trim(), 'latin1').toString('utf8');
      if (whole !== '') this.#onLine(whole);
    }
  }
}

function spawnGuarded(executable: string, args: readonly string[]): ChildProcessWithoutNullStreams {
  // Windows has no such shell; there mihomo outlives a kernel that was killed.
  if (process.platform === 'win32') return spawn(executable, args, { env: {}, stdio: 'pipe' });
  return spawn('/bin/sh', ['-c', GUARD, 'mihomo', executable, ...args], { env: {}, stdio: 'pipe' });
}

/** Ends the guard's input, since a guard that is killed could not end the program. */
function end(child: ChildProcess): void {
  child.stdin?.destroy();
  if (process.platform === 'win32') child.kill('SIGKILL');
}
