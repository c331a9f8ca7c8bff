import type { TransferArchive } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { CheckField } from '../../shared/components/fields.js';
import { Card } from '../../shared/components/page.js';
import { saveFile } from '../../shared/components/save-file.js';
import { useAction } from '../../shared/state/use-action.js';

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
    }, 'The export was saved among your downloads.');
  return (
    <Card title="Export">
      <p>Users, clients, tunnels, hosts, rules, policies and webhooks, as one file. Keys and secrets are not in it.</p>
      <CheckField
        label="With hashes of passwords and keys"
        hint="Then passwords and keys go on to hold where it is restored. Keep the file as you would keep them."
        checked={hashes}
        onChange={setHashes}
      />
      <button type="button" disabled={busy} onClick={() => void save()}>
        Export
      </button>
    </Card>
  );
}
