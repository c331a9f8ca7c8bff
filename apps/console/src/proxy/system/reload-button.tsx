import type { ReloadResult } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { useNotify } from '../../shared/components/notices.js';
import { formatDuration } from '../../shared/format/times.js';
import { useAction } from '../../shared/state/use-action.js';
import { t } from '../messages/index.js';

export function ReloadButton({ onDone }: { onDone: () => void }) {
  const api = useApi();
  const notify = useNotify();
  const { busy, run } = useAction();
  const reload = async (): Promise<void> => {
    await run(async () => {
      const result = await api.post<ReloadResult>('/system/reload');
      const { generation, duration_ms: took, dropped_connections: dropped, warnings } = result;
      const values = { generation, duration: formatDuration(took), dropped, warnings: warnings.join(' ') };
      notify(t('system.reloaded', values).trim());
    });
    onDone();
  };
  return (
    <button type="button" disabled={busy} onClick={() => void reload()}>
      {busy ? t('system.reloading') : t('system.reload')}
    </button>
  );
}
