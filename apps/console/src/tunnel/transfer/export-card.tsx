import type { TransferArchive } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { CheckField } from '../../shared/components/fields.js';
import { Card } from '../../shared/components/page.js';
import { saveFile } from '../../shared/components/save-file.js';
import { useAction } from '../../shared/state/use-action.js';
import { t } from '../messages/index.js';

/** Everything that people have set up, as one file. */
export function ExportCard() {
  const api = useApi();
  const { busy, run } = useAction();
  const [hashes, setHashes] = useState(false);
  const save = (): Promise<boolean> =>
    run(async () => {
      const archive = await api.get<TransferArchive>('/transfer/export', { hashes });
      const content = new Blob([JSON.stringify(archive, null, 2)], { type: 'application/json' });
      saveFile({ name: `gatehouse-tunnels-${archive.exported_at.slice(0, 10)}.json`, content });
    }, t('transfer.exported'));
  return (
    <Card title={t('transfer.exportTitle')}>
      <p>{t('transfer.exportText')}</p>
      <CheckField label={t('transfer.hashes')} hint={t('transfer.hashesHint')} checked={hashes} onChange={setHashes} />
      <button type="button" disabled={busy} onClick={() => void save()}>
        {t('transfer.exportTitle')}
      </button>
    </Card>
  );
}
