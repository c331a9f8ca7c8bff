import { Meter } from '../../shared/components/meter.js';
import { t } from '../messages/index.js';
import type { DelayRun } from './use-delay-run.js';

/** How far a run of tests is, and its end. */
export function RunProgress({ run: { tally, stop } }: { run: DelayRun }) {
  if (tally === null) return null;
  const { total, tested, failed } = tally;
  return (
    <div class="progress">
      <Meter label={t('nodes.testedCount')} ratio={total === 0 ? 1 : tested / total} />
      <button type="button" class="small" onClick={stop}>
        {t('tests.stop')}
      </button>
      <span role="status">{t('tests.progress', { tested, total, failed })}</span>
    </div>
  );
}
