import { useApi } from '../../shared/api/api-context.js';
import { saveFile } from '../../shared/components/save-file.js';
import { useAction } from '../../shared/state/use-action.js';

/** Saves what the service exports, in a chosen format. */
export function ExportMenu({ path, formats }: { path: string; formats: readonly string[] }) {
  const api = useApi();
  const { busy, run } = useAction();
  return (
    <select
      class="menu"
      aria-label="Export as"
      disabled={busy}
      value=""
      onChange={(event) => {
        const format = event.currentTarget.value;
        event.currentTarget.value = '';
        if (format !== '') void run(async () => saveFile(await api.download(path, { format })));
      }}
    >
      <option value="">Export …</option>
      {formats.map((format) => (
        <option key={format} value={format}>
          as {format}
        </option>
      ))}
    </select>
  );
}
