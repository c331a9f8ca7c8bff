import type { Page, RuleView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Trouble } from '../../shared/components/page.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { useAddressFilter } from '../../shared/state/use-address-filter.js';
import { useDebounced } from '../../shared/state/use-debounced.js';
import { LONG_LIST_PAGE, useLongList } from '../../shared/state/use-long-list.js';
import { t } from '../messages/index.js';
import { ExportMenu } from '../transfer/export-menu.js';
import { ImportDialog } from '../transfer/import-dialog.js';
import { EditRule } from './edit-rule.js';
import { ManualRuleTable } from './manual-rule-table.js';
import { isFiltered, NO_RULE_FILTER, queryOf, type RuleFilter } from './rule-filter.js';
import { RuleFilters } from './rule-filters.js';
import { RemoveRule } from './remove-rule.js';

type Opened = { action: 'add' | 'import' } | { action: 'edit' | 'remove'; rule: RuleView };

/** The rules that people write, in their order; they come before those of sets and subscriptions. */
export function ManualRules({ query }: PageProps) {
  const api = useApi();
  const [opened, setOpened] = useState<Opened | null>(null);
  const [filter, setFilter] = useAddressFilter(query, NO_RULE_FILTER);
  const settled = useDebounced(JSON.stringify(queryOf(filter)));
  const { rows, total, error, reload, more } = useLongList(
    (offset, signal) => {
      const asked = { ...(JSON.parse(settled) as RuleFilter), source: 'manual', limit: LONG_LIST_PAGE, offset };
      return api.get<Page<RuleView>>('/rules', asked, signal);
    },
    [settled],
  );
  return (
    <>
      <div class="page-head">
        <p class="muted">{t('rules.intro')}</p>
        <div class="actions">
          <button type="button" onClick={() => setOpened({ action: 'import' })}>
            {t('transfer.import')}
          </button>
          <ExportMenu path="/rules/export" formats={['json', 'text', 'clash']} />
          <button type="button" class="primary" onClick={() => setOpened({ action: 'add' })}>
            {t('rules.add')}
          </button>
        </div>
      </div>
      <Trouble error={error} retry={reload} />
      <RuleFilters rows={rows ?? []} filter={filter} onChange={setFilter} />
      <ManualRuleTable
        rows={rows}
        isFiltered={isFiltered(filter)}
        reload={reload}
        onEnd={more}
        onEdit={(rule) => setOpened({ action: 'edit', rule })}
        onRemove={(rule) => setOpened({ action: 'remove', rule })}
      />
      {rows && <p class="muted">{t('rules.count', { count: total })}</p>}
      {opened && <Opened opened={opened} onClose={() => setOpened(null)} reload={reload} />}
    </>
  );
}

function Opened({ opened, onClose, reload }: { opened: Opened; onClose: () => void; reload: () => void }) {
  switch (opened.action) {
    case 'import':
      return (
        <ImportDialog
          title={t('transfer.importRules')}
          path="/rules/import"
          list="rules"
          onClose={onClose}
          onDone={reload}
        />
      );
    case 'add':
      return <EditRule rule={null} onClose={onClose} onDone={reload} />;
    case 'edit':
      return <EditRule rule={opened.rule} onClose={onClose} onDone={reload} />;
    case 'remove':
      return <RemoveRule rule={opened.rule} onClose={onClose} onDone={reload} />;
  }
}
