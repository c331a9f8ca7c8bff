import type { PublicationPreview, PublicationView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { SelectField } from '../../shared/components/fields.js';
import type { Form } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import { describeRemark } from './describe-remark.js';
import type { TemplateForm } from './template-form.js';

interface TemplatePreviewProps {
  form: Form<TemplateForm>;
  publications: readonly PublicationView[];
}

/** The document with the nodes of a publication in it, before anything is stored. */
export function TemplatePreview({ form, publications }: TemplatePreviewProps) {
  const api = useApi();
  const [publication, setPublication] = useState('');
  const [seen, setSeen] = useState<PublicationPreview | null>(null);
  const [busy, setBusy] = useState(false);
  const look = async (): Promise<void> => {
    const { target, text } = form.values;
    setBusy(true);
    form.clear();
    setSeen(null);
    try {
      const nodes = publication === '' ? {} : { publication_id: Number(publication) };
      setSeen(await api.post<PublicationPreview>('/publication-templates/preview', { target, text, ...nodes }));
    } catch (thrown) {
      form.fail(thrown);
    } finally {
      setBusy(false);
    }
  };
  const choices = [
    { value: '', label: t('publications.takes.all') },
    ...publications.map(({ id, name }) => ({ value: String(id), label: name })),
  ];
  return (
    <>
      <SelectField label={t('templates.nodesOf')} value={publication} choices={choices} onChange={setPublication} />
      <p class="actions">
        <button type="button" disabled={busy || form.values.text === ''} onClick={() => void look()}>
          {t('publications.preview')}
        </button>
      </p>
      {seen && (
        <>
          <p>{t('templates.filled', { count: seen.nodes })}</p>
          {seen.remarks.map((remark) => (
            <p key={`${remark.outcome} ${remark.reason} ${remark.field}`} class="second">
              {describeRemark(remark)}
            </p>
          ))}
          <pre tabIndex={0} aria-label={t('templates.document')}>
            {seen.document}
          </pre>
          {seen.truncated && <p>{t('templates.truncated')}</p>}
        </>
      )}
    </>
  );
}
