import type { ProcessIdentity } from './process-identity.mjs';

export interface OwnedLock {
  release(): void;
  update(note: Record<string, unknown>): void;
}
export type LockHolder = ProcessIdentity & Record<string, unknown>;
export function tryLock(
  file: string,
  note?: Record<string, unknown>,
): { lock: OwnedLock; holder?: undefined } | { lock?: undefined; holder: LockHolder };
