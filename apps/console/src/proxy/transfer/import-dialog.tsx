import { IMPORT_MODES, type ImportMode, type ImportResult } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { CheckField, FormEnd, SelectField, TextField } from '../../shared/components/fields.js';
import { useForm } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import { ImportOutcome } from './import-outcome.js';

interface ImportDialogProps {
  title: string;
  path: string;
  /** What the entries are called. */
  list: 'nodes' | 'rules';
  onClose: () => void;
  onDone: () => void;
}

const MODES: Record<ImportMode, string> = {
  append: t('transfer.modes.append'),
  replace: t('transfer.modes.replace'),
};

interface ImportForm {
  text: string;
  mode: ImportMode;
  dry_run: boolean;
}

/** Reads a text or a file into the service; first only to see what would happen, if wanted. */
export function ImportDialog({ title, path, list, onClose, onDone }: ImportDialogProps) {
  const api = useApi();
  const form = useForm<ImportForm>({ text: '', mode: 'append', dry_run: true });
  const [result, setResult] = useState<ImportResult | null>(null);
  const send = async (values: ImportForm): Promise<void> => {
    const outcome = await api.post<ImportResult>(path, values);
    setResult(outcome);
    if (!outcome.dry_run) onDone();
  };
  return (
    <Dialog title={title} onClose={onClose} wide>
      <form onSubmit={form.submit(send)}>
        <TextField
          label={t(`transfer.${list}`)}
          hint={list === 'nodes' ? t('transfer.nodesHint') : t('transfer.rulesHint')}
          rows={9}
          required
          value={form.values.text}
          problem={form.problem('text')}
          onInput={(text) => form.set('text', text)}
        />
        <FilePicker onText={(text) => form.set('text', text)} />
        <SelectField
          label={t('transfer.mode')}
          value={form.values.mode}
          choices={IMPORT_MODES.map((value) => ({ value, label: MODES[value] }))}
          onChange={(mode) => form.set('mode', mode as ImportMode)}
        />
        <CheckField
          label={t('transfer.dryRun')}
          checked={form.values.dry_run}
          onChange={(dryRun) => form.set('dry_run', dryRun)}
        />
        <FormEnd
          error={form.error}
          busy={form.busy}
          action={form.values.dry_run ? t('transfer.preview') : t('transfer.import')}
          onCancel={onClose}
        />
      </form>
      {result && <ImportOutcome result={result} />}
    </Dialog>
  );
}

function FilePicker({ onText }: { onText: (text: string) => void }) {
  return (
    <div class="field">
      <label>
        {t('transfer.file')}
        <input
          type="file"
          onChange={(event) => {
            const file = event.currentTarget.files?.[0];
            if (file) void file.text().then(onText);
          }}
        />
      </label>
    </div>
  );
}
