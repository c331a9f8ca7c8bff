import { delayClass } from '../format/amounts.js';
import { t } from '../messages/index.js';

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
  const text = kind === 'dead' ? t('delay.fails') : delayMs === null ? '–' : `${delayMs} ms`;
  const word = t(`delay.${kind}`);
  return (
    <span class={`delay ${kind}`} title={title ?? word}>
      {text}
      <span class="hidden"> ({word})</span>
    </span>
  );
}
