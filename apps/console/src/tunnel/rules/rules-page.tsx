import { useState } from 'preact/hooks';
import { Page, Tabs } from '../../shared/components/page.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { hrefTo } from '../../shared/state/route.js';
import { t } from '../messages/index.js';
import { useIsAdministrator, useMayWrite } from '../user-context.js';
import { AddressLists, type OpenedList } from './address-lists.js';
import { RuleCheck } from './rule-check.js';
import { RuleList, type Opened } from './rule-list.js';

const TABS = [
  { id: 'list', label: t('rules.rules') },
  { id: 'check', label: t('rules.check') },
];
const LISTS = { id: 'lists', label: t('lists.lists') };

/** Which addresses may come in. */
export function RulesPage({ query }: PageProps) {
  const mayWrite = useMayWrite();
  const isAdministrator = useIsAdministrator();
  const [opened, setOpened] = useState<Opened | null>(null);
  const [openedList, setOpenedList] = useState<OpenedList | null>(null);
  const tabs = isAdministrator ? [...TABS, LISTS] : TABS;
  const view = tabs.find(({ id }) => id === query['view'])?.id ?? 'list';
  const isLists = view === 'lists';
  return (
    <Page
      title={t('nav.ipRules')}
      actions={
        mayWrite &&
        view !== 'check' && (
          <button
            type="button"
            class="primary"
            onClick={() => (isLists ? setOpenedList : setOpened)({ action: 'new' })}
          >
            {isLists ? t('lists.add') : t('rules.add')}
          </button>
        )
      }
    >
      <Tabs label={t('rules.views')} tabs={tabs} current={view} hrefOf={(id) => hrefTo('rules', { view: id })} />
      {view === 'check' && <RuleCheck />}
      {view === 'list' && <RuleList query={query} opened={opened} setOpened={setOpened} />}
      {isLists && <AddressLists opened={openedList} setOpened={setOpenedList} />}
    </Page>
  );
}
