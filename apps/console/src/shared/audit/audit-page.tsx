import type { AuditLogView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { CursorPager } from '../components/cursor-pager.js';
import { SelectField, TextField } from '../components/fields.js';
import { Page, Trouble } from '../components/page.js';
import type { PageProps } from '../frame/pages.js';
import { useAddressFilter } from '../state/use-address-filter.js';
import { useCursorList } from '../state/use-cursor-list.js';
import { AuditDialog } from './audit-dialog.js';
import { AuditTable } from './audit-table.js';
import { VerifyChain } from './verify-chain.js';
import { t } from '../messages/index.js';

const NO_FILTER = { actor: '', action: '', success: '' };

type Filter = typeof NO_FILTER;

const OUTCOMES = [
  { value: '', label: t('audit.allOutcomes') },
  { value: 'true', label: t('audit.successful') },
  { value: 'false', label: t('audit.failed') },
];

/** Who changed what, in a chain that shows a missing row. */
export function AuditPage({ query }: PageProps) {
  const [filter, change] = useAddressFilter<Filter>(query, NO_FILTER);
  const [opened, setOpened] = useState<AuditLogView | null>(null);
  const list = useCursorList<AuditLogView>('/audit-logs', filter);
  return (
    <Page title={t('audit.title')} actions={<VerifyChain />}>
      <AuditFilters filter={filter} onChange={change} />
      <Trouble error={list.error} retry={list.reload} />
      <AuditTable rows={list.rows} onOpen={setOpened} />
      {list.total !== undefined && (
        <CursorPager label={t('audit.title')} note={t('audit.entries', { count: list.total })} {...list.pager} />
      )}
      {opened && <AuditDialog row={opened} onClose={() => setOpened(null)} />}
    </Page>
  );
}

function AuditFilters({ filter, onChange }: { filter: Filter; onChange: (changes: Partial<Filter>) => void }) {
  return (
    <div class="filters" role="search" aria-label={t('audit.filter')}>
      <div class="search">
        <TextField
          label={t('audit.actor')}
          hideLabel
          placeholder={t('audit.actorExample')}
          value={filter.actor}
          onInput={(actor) => onChange({ actor })}
        />
      </div>
      <div class="search">
        <TextField
          label={t('audit.action')}
          hideLabel
          placeholder={t('audit.actionExample')}
          value={filter.action}
          onInput={(action) => onChange({ action })}
        />
      </div>
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
