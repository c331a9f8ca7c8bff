import { PUBLICATION_TARGETS, type PublicationPreview } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Table, type Column } from '../../shared/components/table.js';
import type { Form } from '../../shared/state/use-form.js';
import { t } from '../messages/index.js';
import { TARGET_NAMES } from './address.js';
import { describeRemark } from './describe-remark.js';
import { toDefinition, type PublicationForm } from './publication-form.js';

const COLUMNS: readonly Column<PublicationPreview>[] = [
  { head: t('publications.format'), cell: ({ target }) => TARGET_NAMES[target], grow: true },
  { head: t('nav.nodes'), cell: ({ nodes }) => nodes.toLocaleString(), right: true },
  {
    head: t('publications.remarks'),
    cell: ({ remarks }) =>
      remarks.length === 0 ? (
        '–'
      ) : (
        <span class="noted">
          {remarks.map((remark) => (
            <span key={`${remark.outcome} ${remark.reason} ${remark.field}`} class="second">
              {describeRemark(remark)}
            </span>
          ))}
        </span>
      ),
  },
];

/** What each format would contain, before anything is stored. */
export function Preview({ form }: { form: Form<PublicationForm> }) {
  const api = useApi();
  const [seen, setSeen] = useState<readonly PublicationPreview[] | null>(null);
  const [busy, setBusy] = useState(false);
  const look = async (): Promise<void> => {
    setBusy(true);
    form.clear();
    setSeen(null);
    try {
      // One after another: each writes a whole document.
      for (const target of PUBLICATION_TARGETS) {
        const body = { ...toDefinition(form.values), target };
        const { document: _unused, ...preview } = await api.post<PublicationPreview>('/publications/preview', body);
        setSeen((before) => [...(before ?? []), { ...preview, document: '' }]);
      }
    } catch (thrown) {
      form.fail(thrown);
    } finally {
      setBusy(false);
    }
  };
  const first = seen?.[0];
  return (
    <>
      <p class="actions">
        <button type="button" disabled={busy} onClick={() => void look()}>
          {t('publications.preview')}
        </button>
      </p>
      {first && <p>{t('publications.selected', { selected: first.selected_total, total: first.sources_total })}</p>}
      {seen && (
        <Table
          caption={t('publications.preview')}
          columns={COLUMNS}
          rows={seen}
          rowKey={({ target }) => target}
          empty={t('common.loading')}
        />
      )}
    </>
  );
}
