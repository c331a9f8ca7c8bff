import { deferred } from '../async/deferred.js';
import type { JsonLogger } from '../logging/json-logger.js';
import type { ServiceSettings } from '../settings/service-settings.js';
import { OWN_TERMINAL_LANGUAGE } from '../settings/settings.js';
import { collectWhenIdle } from './idle-collection.js';
import { failureLines } from './start-failure.js';

export interface RunningProcess {
  readonly logger: JsonLogger;
  /** Finishes running work and closes everything. */
  readonly stop: () => Promise<void>;
  /** A stop that takes longer is given up. Default: half a minute. */
  readonly stopLimitMs?: number;
  /** Sent to the parent with `type: 'ready'`. */
  readonly ready: Readonly<Record<string, unknown>>;
}

/** A stop that hangs must not keep the supervisor waiting forever. */
const STOP_LIMIT_MS = 30_000;

/** What lets go after the last connection has ended. */
const CLOSING_MS = 10_000;

/** For a process with these settings. */
export function stopLimitOf(settings: Pick<ServiceSettings, 'shutdownDelayMs' | 'shutdownTimeoutMs'>): number {
  return Math.max(STOP_LIMIT_MS, settings.shutdownDelayMs + settings.shutdownTimeoutMs + CLOSING_MS);
}

/**
 * Starts a program and owns its process from then on: ready message, signals, the parent's end, fatal errors.
 * A failed start prints one line for each problem on standard error, notifies the parent, and exits with 1.
 */
export async function runProcess(name: string, start: () => Promise<RunningProcess>): Promise<void> {
  // A parent that was killed leaves a broken pipe; lost log lines must not prevent a clean stop.
  process.stdout.on('error', ignoreBrokenPipe);
  process.stderr.on('error', ignoreBrokenPipe);
  const interrupted = waitForEnd();
  let running: RunningProcess;
  try {
    running = await start();
  } catch (error) {
    failStart(name, error);
    return;
  }
  stopOnFatalErrors(running.logger);
  notifyParent({ type: 'ready', ...running.ready });
  collectWhenIdle();
  const reason = await interrupted;
  running.logger.log('stopping', { reason }, 'Service');
  await stopWithin(running);
}

function failStart(name: string, error: unknown): void {
  const lines = failureLines(error, OWN_TERMINAL_LANGUAGE);
  for (const line of lines) process.stderr.write(`${name}: ${line}\n`);
  notifyParent({ type: 'failed', lines }, () => process.exit(1));
}

function ignoreBrokenPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') throw error;
}

/** First request to stop; a second signal stops at once. */
async function waitForEnd(): Promise<string> {
  const { promise, resolve } = deferred<string>();
  let asked = false;
  const onSignal = (signal: string): void => {
    if (asked) process.exit(130);
    asked = true;
    resolve(signal);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  process.once('disconnect', () => resolve('the parent process is gone'));
  return promise;
}

function stopOnFatalErrors(logger: JsonLogger): void {
  const die = (error: unknown): void => {
    logger.fatal('unexpected failure, stopping', { error }, 'Service');
    process.exit(1);
  };
  process.on('uncaughtException', die);
  process.on('unhandledRejection', die);
}

async function stopWithin({ logger, stop, stopLimitMs = STOP_LIMIT_MS }: RunningProcess): Promise<void> {
  const limit = setTimeout(() => {
    logger.error(`not stopped after ${stopLimitMs} ms, leaving`, 'Service');
    process.exit(1);
  }, stopLimitMs);
  try {
    await stop();
    clearTimeout(limit);
    logger.log('stopped', 'Service');
    process.exit(0);
  } catch (error) {
    logger.error('stopping failed', { error }, 'Service');
    process.exit(1);
  }
}

function notifyParent(message: Readonly<Record<string, unknown>>, done: () => void = () => undefined): void {
  if (process.send === undefined || !process.connected) {
    done();
    return;
  }
  process.send(message, undefined, undefined, done);
}
