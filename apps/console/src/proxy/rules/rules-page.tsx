import { Page, Tabs } from '../../shared/components/page.js';
import { hrefTo } from '../../shared/state/route.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { t } from '../messages/index.js';
import { ManualRules } from './manual-rules.js';
import { MergedRules } from './merged-rules.js';
import { RuleSets } from './rule-sets.js';
import { UrlTest } from './url-test.js';

const TABS = [
  { id: 'manual', label: t('rules.manual') },
  { id: 'merged', label: t('rules.merged') },
  { id: 'sets', label: t('rules.sets') },
  { id: 'test', label: t('rules.test') },
];

/** The rules: those that people write, all that the kernel tries, and what a connection would meet. */
export function RulesPage({ query }: PageProps) {
  const tab = TABS.find(({ id }) => id === query['tab'])?.id ?? 'manual';
  return (
    <Page title={t('nav.rules')}>
      <Tabs label={t('rules.views')} tabs={TABS} current={tab} hrefOf={(id) => hrefTo('rules', { tab: id })} />
      {tab === 'manual' && <ManualRules query={query} />}
      {tab === 'merged' && <MergedRules query={query} />}
      {tab === 'sets' && <RuleSets />}
      {tab === 'test' && <UrlTest />}
    </Page>
  );
}
