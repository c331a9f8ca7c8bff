import { chmodSync, existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDERS = { x64: 'x86_64-linux-gnu', arm64: 'aarch64-linux-gnu' } as const;
/** Where Debian's package `faketime` has the library. */
export const FAKETIME = `/usr/lib/${FOLDERS[process.arch as keyof typeof FOLDERS]}/faketime/libfaketime.so.1`;

/** A clock for processes that are started with `environment`: what others say of the time, plus an offset that can be set. */
export interface Clock {
  environment: NodeJS.ProcessEnv;
  /** Seconds with a sign, such as `+3600`; in effect within a second. Timers do not notice, as with a real clock. */
  set(offset: string): void;
}

/** `folder`: one that the processes can read. */
export function openClock(folder: string): Clock {
  if (!existsSync(FAKETIME)) throw new Error(`there is no ${FAKETIME}`);
  const file = join(folder, 'clock');
  const set = (offset: string): void => writeFileSync(file, `${offset}\n`);
  set('+0');
  chmodSync(file, 0o644);
  const environment = {
    LD_PRELOAD: FAKETIME,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
  return { environment, set };
}
