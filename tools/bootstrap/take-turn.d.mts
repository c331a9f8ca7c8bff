import type { OwnedLock } from './process-lock.mjs';

export function takeTurn(file: string, doing: string): Promise<OwnedLock>;
