import type { RestoredRow, TransferRestoreView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { CopyButton } from '../../shared/components/copy-button.js';
import { Dialog } from '../../shared/components/dialog.js';
import { FormEnd } from '../../shared/components/fields.js';
import { FileField } from '../../shared/components/file-field.js';
import { Card } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { useForm } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import { parseArchive, readFiles } from './read-files.js';

interface RestoreForm {
  /** What the service calls the file. */
  archive: readonly File[];
}

/** Sets up what an export holds. */
export function RestoreCard() {
  const api = useApi();
  const form = useForm<RestoreForm>({ archive: [] });
  const [outcome, setOutcome] = useState<TransferRestoreView | null>(null);
  const restore = async ({ archive: files }: RestoreForm): Promise<void> => {
    const [file] = await readFiles(files);
    const archive = parseArchive(file?.text ?? '');
    setOutcome(await api.post<TransferRestoreView>('/transfer/restore', { archive }));
  };
  return (
    <Card title={t('transfer.restoreTitle')}>
      <p>{t('transfer.restoreText')}</p>
      <form onSubmit={form.submit(restore)}>
        <FileField
          label={t('transfer.exportFile')}
          accept=".json,application/json"
          problem={form.problem('archive')}
          onChoose={(files) => form.set('archive', files)}
        />
        <FormEnd error={form.error} busy={form.busy} action={t('transfer.restoreTitle')} />
      </form>
      {outcome && <RestoreOutcome outcome={outcome} onClose={() => setOutcome(null)} />}
    </Card>
  );
}

const COLUMNS: Column<RestoredRow>[] = [
  { head: t('transfer.item'), cell: ({ kind, id }) => `${kind} ${id}` },
  { head: t('transfer.newId'), right: true, cell: ({ new_id: id }) => id },
  { head: t('transfer.note'), grow: true, cell: ({ note }) => <span title={note ?? ''}>{note ?? ''}</span> },
  {
    head: t('transfer.newSecret'),
    cell: ({ secret, kind }) =>
      secret !== null && (
        <span class="with-copy">
          <code class="clipped">{secret}</code>
          <CopyButton text={secret} what={t('transfer.secretOf', { kind })} />
        </span>
      ),
  },
];

function RestoreOutcome({ outcome, onClose }: { outcome: TransferRestoreView; onClose: () => void }) {
  return (
    <Dialog title={t('transfer.restored', { count: outcome.restored })} onClose={onClose} wide>
      {outcome.changed.some(({ secret }) => secret !== null) && (
        <p>
          <strong>{t('transfer.saveRestored')}</strong>
        </p>
      )}
      <Table
        caption={t('transfer.differences')}
        columns={COLUMNS}
        rows={outcome.changed}
        rowKey={({ kind, id }) => `${kind} ${id}`}
        empty={t('transfer.noDifferences')}
      />
      <div class="dialog-actions">
        <button type="button" class="primary" onClick={onClose}>
          {t('common.close')}
        </button>
      </div>
    </Dialog>
  );
}
