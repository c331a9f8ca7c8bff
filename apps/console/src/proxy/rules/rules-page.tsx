import { Page, Tabs } from '../../shared/components/page.js';
import { hrefTo } from '../../shared/state/route.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { ManualRules } from './manual-rules.js';
import { MergedRules } from './merged-rules.js';
import { RuleSets } from './rule-sets.js';
import { UrlTest } from './url-test.js';

const TABS = [
  { id: 'manual', label: 'Manual rules' },
  { id: 'merged', label: 'All rules in force' },
  { id: 'sets', label: 'Rule sets' },
  { id: 'test', label: 'Test an address' },
];

/** The rules: those that people write, all that the kernel tries, and what a connection would meet. */
export function RulesPage({ query }: PageProps) {
  const tab = TABS.find(({ id }) => id === query['tab'])?.id ?? 'manual';
  return (
    <Page title="Rules">
      <Tabs label="Views of the rules" tabs={TABS} current={tab} hrefOf={(id) => hrefTo('rules', { tab: id })} />
      {tab === 'manual' && <ManualRules />}
      {tab === 'merged' && <MergedRules />}
      {tab === 'sets' && <RuleSets />}
      {tab === 'test' && <UrlTest />}
    </Page>
  );
}
