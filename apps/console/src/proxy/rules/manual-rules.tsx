import type { Page, RuleView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Trouble } from '../../shared/components/page.js';
import { PAGE_SIZES, Pager } from '../../shared/components/pager.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import { ExportMenu } from '../transfer/export-menu.js';
import { ImportDialog } from '../transfer/import-dialog.js';
import { EditRule } from './edit-rule.js';
import { ManualRuleTable } from './manual-rule-table.js';
import { RemoveRule } from './remove-rule.js';

type Opened = { action: 'add' | 'import' } | { action: 'edit' | 'remove'; rule: RuleView };

/** The rules that people write, in their order; they come before those of sets and subscriptions. */
export function ManualRules() {
  const api = useApi();
  const [page, setPage] = useState({ limit: 50, offset: 0 });
  const [opened, setOpened] = useState<Opened | null>(null);
  const { data, error, reload } = useResource(
    (signal) => api.get<Page<RuleView>>('/rules', { source: 'manual', ...page }, signal),
    [page],
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
      <ManualRuleTable
        rows={data?.items}
        reload={reload}
        onEdit={(rule) => setOpened({ action: 'edit', rule })}
        onRemove={(rule) => setOpened({ action: 'remove', rule })}
      />
      {data && <Pager label={t('nav.rules')} sizes={PAGE_SIZES} {...data} onChange={setPage} />}
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
