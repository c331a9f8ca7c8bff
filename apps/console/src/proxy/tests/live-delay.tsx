import { useEffect, useState } from 'preact/hooks';
import { Delay } from '../../shared/components/delay.js';
import { t } from '../messages/index.js';
import { delayTests } from './delay-tests.js';

interface LiveDelayProps {
  /** Null: not a node, but a group or a built-in. */
  nodeId: number | null;
  alive: boolean | null;
  delayMs: number | null;
  title?: string | undefined;
}

/** The delay of a node; a test of this page shows its state and its result at once. */
export function LiveDelay({ nodeId, alive, delayMs, title }: LiveDelayProps) {
  const [, redraw] = useState(0);
  useEffect(
    () => (nodeId === null ? undefined : delayTests.onChange(nodeId, () => redraw((count) => count + 1))),
    [nodeId],
  );
  const now = nodeId === null ? undefined : delayTests.of(nodeId);
  if (now === undefined) return <Delay alive={alive} delayMs={delayMs} title={title} />;
  if (now.state === 'done') return <Delay alive={now.alive} delayMs={now.delayMs} title={now.message ?? undefined} />;
  return (
    <span class={`delay ${now.state}`}>
      <span aria-hidden="true">{now.state === 'testing' ? '⋯' : '·'}</span>
      <span class="hidden">{t(`tests.${now.state}`)}</span>
    </span>
  );
}
