import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDERS = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' } as const;
/** Where Debian's package `faketime` has the library. */
export const FAKETIME = `/usr/lib/${FOLDERS[process.arch as keyof typeof FOLDERS]}/faketime/libfaketime.so.1`;

/** A clock for processes that are started with `environment`: what others say of the time, plus an offset that can be set. */
export interface Clock {
  environment: NodeJS.ProcessEnv;
  /** Seconds from the machine's clock; in effect within a second. Timers do not notice, as with a real clock. */
  set(offset: number): void;
  readonly offset: number;
  /** Milliseconds since the epoch, as the processes have it. */
  now(): number;
  /** When the processes have ended. */
  close(): void;
}

const STARTED_MS = 30_000;
const DAY_SECONDS = 86_400;

/**
 * Seconds to put a clock forward so that it shows `seconds` before midnight (UTC). Never back: in a signal handler libfaketime
 * may answer with the real time, and where that is later, PostgreSQL takes its timeouts for over.
 */
export function offsetToMidnight(seconds: number, now = Date.now()): number {
  return (untilMidnight(now) - seconds + DAY_SECONDS) % DAY_SECONDS;
}

/** Seconds until the day ends (UTC). */
export function untilMidnight(now: number): number {
  return DAY_SECONDS - (Math.floor(now / 1_000) % DAY_SECONDS);
}

/** `folder`: one that the processes can read. @throws Error where libfaketime is not there */
export async function openClock(folder: string): Promise<Clock> {
  if (!existsSync(FAKETIME)) throw new Error(`there is no ${FAKETIME}`);
  const file = join(folder, 'clock');
  let offset = 0;
  const set = (seconds: number): void => {
    offset = seconds;
    writeFileSync(file, `${seconds < 0 ? '' : '+'}${seconds}\n`);
  };
  set(0);
  chmodSync(file, 0o644);
  const environment = {
    LD_PRELOAD: FAKETIME,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
  const { shared, end } = await shareMemory(environment);
  return {
    environment: { ...environment, FAKETIME_SHARED: shared },
    set,
    get offset() {
      return offset;
    },
    now: () => Date.now() + offset * 1_000,
    close: end,
  };
}

/**
 * The library keeps some memory that processes share, named after the first one. A process that begins as root and goes on
 * as another account, as PostgreSQL does, could not open what it has made itself: it gets that of a process of ours.
 */
async function shareMemory(environment: NodeJS.ProcessEnv): Promise<{ shared: string; end: () => void }> {
  const script = "process.stdout.write(process.env['FAKETIME_SHARED'] ?? ''); process.stdin.resume()";
  // It ends with this process, which closes its input.
  const owner = spawn(process.execPath, ['-e', script], { env: environment, stdio: ['pipe', 'pipe', 'inherit'] });
  const [shared] = (await once(owner.stdout, 'data', { signal: AbortSignal.timeout(STARTED_MS) })) as [Buffer];
  return { shared: shared.toString(), end: () => owner.stdin.end() };
}
