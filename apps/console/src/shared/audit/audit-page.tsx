import type { AuditLogPage, AuditLogView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../api/api-context.js';
import { CursorPager } from '../components/cursor-pager.js';
import { SelectField, TextField } from '../components/fields.js';
import { Page, Trouble } from '../components/page.js';
import { FIRST_CURSOR } from '../state/cursor.js';
import { useDebounced } from '../state/use-debounced.js';
import { useResource } from '../state/use-resource.js';
import { AuditDialog } from './audit-dialog.js';
import { AuditTable } from './audit-table.js';
import { VerifyChain } from './verify-chain.js';
import { t } from '../messages/index.js';

interface Filter {
  actor: string;
  action: string;
  success: string;
}

const OUTCOMES = [
  { value: '', label: t('audit.allOutcomes') },
  { value: 'true', label: t('audit.successful') },
  { value: 'false', label: t('audit.failed') },
];

/** Who changed what, in a chain that shows a missing row. */
export function AuditPage() {
  const api = useApi();
  const [filter, setFilter] = useState<Filter>({ actor: '', action: '', success: '' });
  const [page, setPage] = useState(FIRST_CURSOR);
  const [opened, setOpened] = useState<AuditLogView | null>(null);
  const settled = useDebounced(filter);
  const { data, error, reload } = useResource(
    (signal) => api.get<AuditLogPage>('/audit-logs', { ...settled, limit: page.limit, cursor: page.cursor }, signal),
    [settled, page],
  );
  const narrow = (changes: Partial<Filter>): void => {
    setFilter({ ...filter, ...changes });
    setPage({ ...FIRST_CURSOR, limit: page.limit });
  };
  return (
    <Page title={t('audit.title')} actions={<VerifyChain />}>
      <AuditFilters filter={filter} onChange={narrow} />
      <Trouble error={error} retry={reload} />
      <AuditTable rows={data?.items} onOpen={setOpened} />
      {data && (
        <CursorPager
          label={t('audit.title')}
          page={page}
          next={data.next_cursor}
          note={t('audit.entries', { count: data.total })}
          onChange={setPage}
        />
      )}
      {opened && <AuditDialog row={opened} onClose={() => setOpened(null)} />}
    </Page>
  );
}

function AuditFilters({ filter, onChange }: { filter: Filter; onChange: (changes: Partial<Filter>) => void }) {
  return (
    <div class="filters" role="search" aria-label={t('audit.filter')}>
      <TextField
        label={t('audit.actor')}
        hideLabel
        placeholder={t('audit.actorExample')}
        value={filter.actor}
        onInput={(actor) => onChange({ actor })}
      />
      <TextField
        label={t('audit.action')}
        hideLabel
        placeholder={t('audit.actionExample')}
        value={filter.action}
        onInput={(action) => onChange({ action })}
      />
      <SelectField
        label={t('audit.outcome')}
        hideLabel
        value={filter.success}
        choices={OUTCOMES}
        onChange={(success) => onChange({ success })}
      />
    </div>
  );
}
