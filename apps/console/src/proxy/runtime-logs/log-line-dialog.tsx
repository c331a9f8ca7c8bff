import type { RuntimeLogView } from '@gatehouse/contracts';
import { Dialog } from '../../shared/components/dialog.js';
import { Facts } from '../../shared/components/page.js';
import { formatTime } from '../../shared/format/times.js';
import { t } from '../messages/index.js';
import { fieldsOf, levelName, processOf } from './log-line.js';

/** A log line with all that it says. */
export function LogLineDialog({ line, onClose }: { line: RuntimeLogView; onClose: () => void }) {
  const fields = fieldsOf(line);
  return (
    <Dialog title={t('runtimeLog.lineTitle')} onClose={onClose} wide>
      <p class="log-line" lang="en">
        {line.message}
      </p>
      <Facts
        facts={[
          [t('common.time'), formatTime(line.time)],
          [t('runtimeLog.level'), levelName(line.level)],
          [t('runtimeLog.process'), processOf(line)],
          ...(line.request_id === null
            ? []
            : ([[t('runtimeLog.request'), <code key="request">{line.request_id}</code>]] as const)),
          ...(fields === ''
            ? []
            : ([
                [
                  t('runtimeLog.fields'),
                  <span key="fields" class="log-line mono">
                    {fields}
                  </span>,
                ],
              ] as const)),
        ]}
      />
    </Dialog>
  );
}
