import { useState } from 'preact/hooks';
import { Page, Tabs } from '../../shared/components/page.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { hrefTo } from '../../shared/state/route.js';
import { useMayWrite } from '../user-context.js';
import { RuleCheck } from './rule-check.js';
import { RuleList, type Opened } from './rule-list.js';

const TABS = [
  { id: 'list', label: 'Rules' },
  { id: 'check', label: 'Check an address' },
];

/** Which addresses may come in. */
export function RulesPage({ query }: PageProps) {
  const mayWrite = useMayWrite();
  const [opened, setOpened] = useState<Opened | null>(null);
  const view = query['view'] === 'check' ? 'check' : 'list';
  return (
    <Page
      title="IP rules"
      actions={
        mayWrite &&
        view === 'list' && (
          <button type="button" class="primary" onClick={() => setOpened({ deed: 'new' })}>
            New rule
          </button>
        )
      }
    >
      <Tabs label="Views of the rules" tabs={TABS} current={view} hrefOf={(id) => hrefTo('rules', { view: id })} />
      {view === 'check' ? <RuleCheck /> : <RuleList opened={opened} setOpened={setOpened} />}
    </Page>
  );
}
