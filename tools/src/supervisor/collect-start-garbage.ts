import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const SETTLED_MS = 6_000;

/** The supervisor's own garbage of starting, once: afterwards it allocates too little for V8 ever to collect it. */
export function collectStartGarbage(): void {
  const collect = (): void => {
    setFlagsFromString('--expose-gc');
    const gc = runInNewContext('gc') as (options: { type: string; flavor: string }) => void;
    gc({ type: 'major', flavor: 'last-resort' });
  };
  setTimeout(collect, SETTLED_MS).unref();
}
