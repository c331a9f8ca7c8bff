import type { TransferImportView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { FormEnd, SelectField } from '../../shared/components/fields.js';
import { FileField } from '../../shared/components/file-field.js';
import { Card } from '../../shared/components/page.js';
import { useForm } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import { ResourceField } from '../parts/resource-field.js';
import { ImportReport } from './import-report.js';
import { readFiles, type NamedText } from './read-files.js';

interface ImportForm {
  format: 'frp' | 'nps';
  files: readonly File[];
  /** Empty: clients are made as the files say. */
  client_id: string;
}

interface Tried {
  body: { format: string; files: NamedText[]; client_id?: number };
  report: TransferImportView;
}

const FORMATS = {
  frp: { label: 'frp', hint: t('transfer.programHints.frp'), accept: '.toml' },
  nps: { label: 'nps', hint: t('transfer.programHints.nps'), accept: '.json' },
} as const;

/** Takes over a set-up of another program; first it only says what would become of it. */
export function ImportCard() {
  const api = useApi();
  const form = useForm<ImportForm>({ format: 'frp', files: [], client_id: '' });
  const [tried, setTried] = useState<Tried | null>(null);
  const attempt = async ({ format, files, client_id: id }: ImportForm): Promise<void> => {
    const body = { format, files: await readFiles(files), ...(id !== '' && { client_id: Number(id) }) };
    const report = await api.post<TransferImportView>('/transfer/import', { ...body, dry_run: true });
    setTried({ body, report });
  };
  const apply = async (): Promise<void> => {
    if (tried === null) return;
    const { body } = tried;
    setTried({ body, report: await api.post<TransferImportView>('/transfer/import', { ...body, dry_run: false }) });
  };
  const { format } = form.values;
  return (
    <Card title={t('transfer.importTitle')}>
      <form onSubmit={form.submit(attempt)}>
        <div class="form-row">
          <SelectField
            label={t('transfer.program')}
            value={format}
            choices={Object.entries(FORMATS).map(([value, { label }]) => ({ value, label }))}
            problem={form.problem('format')}
            onChange={(value) => form.set('format', value as ImportForm['format'])}
          />
          <ResourceField
            kind="client"
            label={t('transfer.into')}
            none={t('transfer.ownClients')}
            value={form.values.client_id}
            problem={form.problem('client_id')}
            onChange={(id) => form.set('client_id', id)}
          />
        </div>
        <FileField
          key={format}
          label={t('transfer.files')}
          hint={FORMATS[format].hint}
          accept={FORMATS[format].accept}
          multiple
          problem={form.problem('files')}
          onChoose={(files) => form.set('files', files)}
        />
        <FormEnd error={form.error} busy={form.busy} action={t('transfer.preview')} />
      </form>
      {tried && <ImportReport report={tried.report} onApply={apply} />}
    </Card>
  );
}
