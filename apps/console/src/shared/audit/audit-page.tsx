import type { AuditLogPage, AuditLogView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../api/api-context.js';
import { CursorPager } from '../components/cursor-pager.js';
import { SelectField, TextField } from '../components/fields.js';
import { Page, Trouble } from '../components/page.js';
import { formatCount } from '../format/amounts.js';
import { FIRST_CURSOR } from '../state/cursor.js';
import { useDebounced } from '../state/use-debounced.js';
import { useResource } from '../state/use-resource.js';
import { AuditDialog } from './audit-dialog.js';
import { AuditTable } from './audit-table.js';
import { VerifyChain } from './verify-chain.js';

interface Filter {
  actor: string;
  action: string;
  success: string;
}

const OUTCOMES = [
  { value: '', label: 'All outcomes' },
  { value: 'true', label: 'Successful' },
  { value: 'false', label: 'Failed' },
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
    <Page title="Audit log" actions={<VerifyChain />}>
      <AuditFilters filter={filter} onChange={narrow} />
      <Trouble error={error} retry={reload} />
      <AuditTable rows={data?.items} onOpen={setOpened} />
      {data && (
        <CursorPager
          label="the audit log"
          page={page}
          next={data.next_cursor}
          note={`${formatCount(data.total)} entries`}
          onChange={setPage}
        />
      )}
      {opened && <AuditDialog row={opened} onClose={() => setOpened(null)} />}
    </Page>
  );
}

function AuditFilters({ filter, onChange }: { filter: Filter; onChange: (changes: Partial<Filter>) => void }) {
  return (
    <div class="filters" role="search" aria-label="Filter the audit log">
      <TextField
        label="Who"
        hideLabel
        placeholder="Who: a name, api_key:5 …"
        value={filter.actor}
        onInput={(actor) => onChange({ actor })}
      />
      <TextField
        label="Action"
        hideLabel
        placeholder="Action: user.create, api_key.*"
        value={filter.action}
        onInput={(action) => onChange({ action })}
      />
      <SelectField
        label="Outcome"
        hideLabel
        value={filter.success}
        choices={OUTCOMES}
        onChange={(success) => onChange({ success })}
      />
    </div>
  );
}
