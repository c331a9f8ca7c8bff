import { delayClass } from '../format/amounts.js';

const WORDS = { good: 'fast', fair: 'usable', slow: 'slow', dead: 'does not answer', none: 'not tested' } as const;

/** A delay, coloured; the word beside the colour is for those who do not see it. */
export function Delay({
  alive,
  delayMs,
  title,
}: {
  alive: boolean | null;
  delayMs: number | null;
  title?: string | undefined;
}) {
  const kind = delayClass(alive, delayMs);
  const text = kind === 'dead' ? 'fails' : delayMs === null ? '–' : `${delayMs} ms`;
  return (
    <span class={`delay ${kind}`} title={title ?? WORDS[kind]}>
      {text}
      <span class="hidden"> ({WORDS[kind]})</span>
    </span>
  );
}
