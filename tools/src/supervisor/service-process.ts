import { spawn, type ChildProcess } from 'node:child_process';
import { LogWatch, seriousText } from './log-watch.js';
import { RotatingLog } from './rotating-log.js';
import { localized } from '../../bootstrap/language.mjs';

const START_TIMEOUT_MS = 60_000;
const TAIL_BYTES = 8 * 1024;
const TAIL_LINES = 12;
const RESTART_DELAYS_MS = [500, 1_000, 2_000, 5_000, 10_000, 30_000];
const MAX_CRASHES_IN_A_ROW = 10;
const STEADY_AFTER_MS = 60_000;

export interface ServiceOptions {
  name: string;
  command: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  cwd: string;
  logFile: string;
  /** One line for the person at the terminal. */
  notify: (line: string) => void;
  onSpawn: (pid: number) => void;
  /** How long it may take to be ready. Default: a minute. */
  startTimeoutMs?: number;
}

/** A service that ended before it was ready. `tail`: what it said about it, or the last serious lines it wrote. */
export class ServiceStartError extends Error {
  override readonly name = 'ServiceStartError';

  constructor(
    message: string,
    readonly tail: string[],
  ) {
    super(message);
  }
}

function howItEnded(code: number | null, signal: NodeJS.Signals | null): string {
  return signal === null
    ? localized(`ended with code ${code}`, `退出（代码 ${code}）`)
    : localized(`was ended by ${signal}`, `被 ${signal} 结束`);
}

/**
 * One service as a child process with a process group of its own (Ctrl-C reaches only the supervisor), restarted with
 * growing delays when it crashes. Its output goes to a rotating log file.
 */
export class ServiceProcess {
  private child: ChildProcess | undefined;
  private readonly log: RotatingLog;
  private readonly watch: LogWatch;
  private tail = '';
  private held: string[] | undefined;
  private stopping = false;
  private crashes = 0;
  private restartTimer: NodeJS.Timeout | undefined;

  constructor(private readonly options: ServiceOptions) {
    this.log = new RotatingLog(options.logFile, { notify: (line) => options.notify(`[${options.name}] ${line}`) });
    this.watch = new LogWatch((text) => {
      if (!this.stopping) this.show(`[${options.name}] ${text}`);
    });
  }

  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** Starts the service; resolves with its port when it says that it is ready. @throws ServiceStartError */
  async start(): Promise<number> {
    const child = this.spawn();
    const port = await this.waitUntilReady(child);
    const readyAt = Date.now();
    child.once('exit', (code, signal) => this.handleCrash(readyAt, howItEnded(code, signal)));
    return port;
  }

  /** Asks the service to stop and ends its whole group when it has not after `patienceMs`. */
  async stop(patienceMs: number): Promise<void> {
    this.stopping = true;
    clearTimeout(this.restartTimer);
    const { child } = this;
    if (child !== undefined && child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
      const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      child.kill('SIGTERM');
      const timer = setTimeout(() => this.killGroup(), patienceMs);
      await gone;
      clearTimeout(timer);
    }
    this.killGroup(); // a kernel that outlived its service
  }

  /** Stops it and starts it again. @throws ServiceStartError; it stays down then. */
  async replace(patienceMs: number): Promise<void> {
    await this.stop(patienceMs);
    this.stopping = false;
    this.crashes = 0;
    await this.start();
  }

  /** Ends the service and everything it started, at once. */
  killGroup(): void {
    const pid = this.child?.pid;
    if (pid === undefined) return;
    try {
      process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
    } catch {
      // no process of the group is left
    }
  }

  private spawn(): ChildProcess {
    const { command, args, env, cwd, onSpawn } = this.options;
    this.tail = '';
    this.held = [];
    const child = spawn(command, args, { env, cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] });
    this.child = child;
    child.stdout?.on('data', (chunk: Buffer) => {
      this.keep(chunk);
      this.watch.addOutput(chunk);
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      this.keep(chunk);
      this.watch.addErrorOutput(chunk);
    });
    if (child.pid !== undefined) onSpawn(child.pid);
    return child;
  }

  /** While it starts, lines wait: those of a start that fails are part of the failure, which is shown once. */
  private show(line: string): void {
    if (this.held === undefined) this.options.notify(line);
    else this.held.push(line);
  }

  private keep(chunk: Buffer): void {
    this.log.write(chunk);
    this.tail = (this.tail + chunk.toString()).slice(-TAIL_BYTES);
  }

  private waitUntilReady(child: ChildProcess): Promise<number> {
    const { startTimeoutMs = START_TIMEOUT_MS } = this.options;
    return new Promise((resolve, reject) => {
      let reasons: string[] = [];
      const fail = (what: string) => {
        clearTimeout(timer);
        this.held = undefined;
        reject(this.startError(what, reasons));
      };
      const timer = setTimeout(() => {
        this.killGroup();
        fail(localized(`was not ready after ${startTimeoutMs / 1000} s`, `在 ${startTimeoutMs / 1000} 秒后仍未就绪`));
      }, startTimeoutMs);
      child.once('error', (error) =>
        fail(localized(`could not be started: ${error.message}`, `无法启动：${error.message}`)),
      );
      child.once('close', (code, signal) => {
        const how = howItEnded(code, signal);
        fail(localized(`${how} before it was ready`, `就绪前${how}`));
      });
      child.on('message', (message) => {
        if (isFailed(message)) reasons = message.lines;
        if (!isReady(message)) return;
        clearTimeout(timer);
        const { held = [] } = this;
        this.held = undefined;
        held.forEach((line) => this.show(line));
        resolve(message.port);
      });
    });
  }

  /** Its own sentence first. One that had no time for it has the serious lines of its output. */
  private startError(what: string, reasons: string[]): ServiceStartError {
    const { name } = this.options;
    const [reason, ...others] = reasons;
    if (reason !== undefined)
      return new ServiceStartError(localized(`${name} cannot start: ${reason}`, `${name} 无法启动：${reason}`), others);
    const lines = this.tail.split('\n').flatMap((line) => seriousText(line.trimEnd()) ?? []);
    return new ServiceStartError(`${name} ${what}`, lines.slice(-TAIL_LINES));
  }

  private handleCrash(readyAt: number, how: string): void {
    if (this.stopping) return;
    this.killGroup();
    const { name, notify, logFile } = this.options;
    this.crashes = Date.now() - readyAt > STEADY_AFTER_MS ? 1 : this.crashes + 1;
    if (this.crashes > MAX_CRASHES_IN_A_ROW) {
      notify(
        localized(
          `[${name}] ${how} for the ${this.crashes}th time in a row; it stays down. Its log: ${logFile}`,
          `[${name}] 连续第 ${this.crashes} 次${how}，不再重新启动。日志：${logFile}`,
        ),
      );
      return;
    }
    const delay = RESTART_DELAYS_MS[Math.min(this.crashes, RESTART_DELAYS_MS.length) - 1] ?? 0;
    notify(
      localized(
        `[${name}] ${how}; starting it again in ${delay / 1000} s. Its log: ${logFile}`,
        `[${name}] ${how}，${delay / 1000} 秒后重新启动。日志：${logFile}`,
      ),
    );
    this.restartTimer = setTimeout(() => this.restart(), delay);
  }

  private restart(): void {
    const startedAt = Date.now();
    this.start().then(
      () => this.options.notify(localized(`[${this.options.name}] is back`, `[${this.options.name}] 已恢复`)),
      (error: Error) => this.handleCrash(startedAt, error.message.slice(this.options.name.length + 1)),
    );
  }
}

function isReady(message: unknown): message is { type: 'ready'; port: number } {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === 'ready';
}

function isFailed(message: unknown): message is { type: 'failed'; lines: string[] } {
  return typeof message === 'object' && message !== null && 'type' in message && message.type === 'failed';
}
