import type { RestoredRow, TransferRestoreView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { CopyButton } from '../../shared/components/copy-button.js';
import { Dialog } from '../../shared/components/dialog.js';
import { FormEnd } from '../../shared/components/fields.js';
import { FileField } from '../../shared/components/file-field.js';
import { Card } from '../../shared/components/page.js';
import { Table, type Column } from '../../shared/components/table.js';
import { formatCount } from '../../shared/format/amounts.js';
import { useForm } from '../../shared/state/use-form.js';
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
    <Card title="Restore">
      <p>
        Sets up what an export holds, beside what is here already: all of it, or nothing where something is in the way.
      </p>
      <form onSubmit={form.submit(restore)}>
        <FileField
          label="File of an export"
          accept=".json,application/json"
          problem={form.problem('archive')}
          onChoose={(files) => form.set('archive', files)}
        />
        <FormEnd error={form.error} busy={form.busy} action="Restore" />
      </form>
      {outcome && <RestoreOutcome outcome={outcome} onClose={() => setOutcome(null)} />}
    </Card>
  );
}

const COLUMNS: Column<RestoredRow>[] = [
  { head: 'What', cell: ({ kind, id }) => `${kind} ${id}` },
  { head: 'Is now', right: true, cell: ({ new_id: id }) => id },
  { head: 'To know', grow: true, cell: ({ note }) => <span title={note ?? ''}>{note ?? ''}</span> },
  {
    head: 'New secret',
    cell: ({ secret, kind }) =>
      secret !== null && (
        <span class="with-copy">
          <code class="clipped">{secret}</code>
          <CopyButton text={secret} what={`Secret of the ${kind}`} />
        </span>
      ),
  },
];

function RestoreOutcome({ outcome, onClose }: { outcome: TransferRestoreView; onClose: () => void }) {
  return (
    <Dialog title={`${formatCount(outcome.restored)} things were restored`} onClose={onClose} wide>
      {outcome.changed.some(({ secret }) => secret !== null) && (
        <p>
          <strong>Keep the new secrets now: they are shown this once.</strong>
        </p>
      )}
      <Table
        caption="What could not be as it was"
        columns={COLUMNS}
        rows={outcome.changed}
        rowKey={({ kind, id }) => `${kind} ${id}`}
        empty="Everything is as it was."
      />
      <div class="dialog-actions">
        <button type="button" class="primary" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
