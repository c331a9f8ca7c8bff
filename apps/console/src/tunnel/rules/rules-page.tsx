import { useState } from 'preact/hooks';
import { Page, Tabs } from '../../shared/components/page.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { hrefTo } from '../../shared/state/route.js';
import { t } from '../messages/index.js';
import { useMayWrite } from '../user-context.js';
import { RuleCheck } from './rule-check.js';
import { RuleList, type Opened } from './rule-list.js';

const TABS = [
  { id: 'list', label: t('rules.rules') },
  { id: 'check', label: t('rules.check') },
];

/** Which addresses may come in. */
export function RulesPage({ query }: PageProps) {
  const mayWrite = useMayWrite();
  const [opened, setOpened] = useState<Opened | null>(null);
  const view = query['view'] === 'check' ? 'check' : 'list';
  return (
    <Page
      title={t('nav.ipRules')}
      actions={
        mayWrite &&
        view === 'list' && (
          <button type="button" class="primary" onClick={() => setOpened({ action: 'new' })}>
            {t('rules.add')}
          </button>
        )
      }
    >
      <Tabs label={t('rules.views')} tabs={TABS} current={view} hrefOf={(id) => hrefTo('rules', { view: id })} />
      {view === 'check' ? <RuleCheck /> : <RuleList query={query} opened={opened} setOpened={setOpened} />}
    </Page>
  );
}
