import type { CountryRebuildResult } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { useNotify } from '../../shared/components/notices.js';
import { useAction } from '../../shared/state/use-action.js';
import { t } from '../messages/index.js';

export function RebuildCountries({ onDone }: { onDone: () => void }) {
  const api = useApi();
  const notify = useNotify();
  const { busy, run } = useAction();
  const rebuild = async (): Promise<void> => {
    await run(async () => {
      const { total, changed, unknown } = await api.post<CountryRebuildResult>('/proxies/rebuild-countries');
      notify(t('nodes.detected', { total, changed, unknown }));
    });
    onDone();
  };
  return (
    <button type="button" disabled={busy} onClick={() => void rebuild()}>
      {busy ? t('nodes.detecting') : t('nodes.detect')}
    </button>
  );
}
