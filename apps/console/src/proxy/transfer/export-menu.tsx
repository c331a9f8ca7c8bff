import { useApi } from '../../shared/api/api-context.js';
import { saveFile } from '../../shared/components/save-file.js';
import { useAction } from '../../shared/state/use-action.js';
import { t } from '../messages/index.js';

/** Saves what the service exports, in a chosen format. */
export function ExportMenu({ path, formats }: { path: string; formats: readonly string[] }) {
  const api = useApi();
  const { busy, run } = useAction();
  return (
    <select
      class="menu"
      aria-label={t('transfer.exportAs')}
      disabled={busy}
      value=""
      onChange={(event) => {
        const format = event.currentTarget.value;
        event.currentTarget.value = '';
        if (format !== '') void run(async () => saveFile(await api.download(path, { format })));
      }}
    >
      <option value="">{t('transfer.export')}</option>
      {formats.map((format) => (
        <option key={format} value={format}>
          {t('transfer.as', { format })}
        </option>
      ))}
    </select>
  );
}
