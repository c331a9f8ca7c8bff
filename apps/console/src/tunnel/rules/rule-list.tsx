import type { IpRuleView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { CursorPager } from '../../shared/components/cursor-pager.js';
import { CheckField, SelectField } from '../../shared/components/fields.js';
import { Trouble } from '../../shared/components/page.js';
import { RemoveDialog } from '../../shared/components/remove-dialog.js';
import { SearchBar } from '../../shared/components/search-bar.js';
import type { PageProps } from '../../shared/frame/pages.js';
import { useAddressFilter } from '../../shared/state/use-address-filter.js';
import { useCursorList } from '../../shared/state/use-cursor-list.js';
import { bold, code } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';
import { Empty } from '../parts/empty.js';
import { EditRule, NewRule } from './edit-rule.js';
import { SCOPES } from './rule-form.js';
import { RuleTable, type RuleAction } from './rule-table.js';

export type Opened = { action: 'new' } | { action: RuleAction; rule: IpRuleView };

const TYPES = [
  { value: '', label: t('rules.anyAction') },
  { value: 'allow', label: t('rules.allow') },
  { value: 'deny', label: t('rules.deny') },
];
const LEVELS = [
  { value: '', label: t('rules.anyScope') },
  ...Object.entries(SCOPES).map(([value, label]) => ({ value, label })),
];

const NO_FILTER = { q: '', scope: '', type: '' };

interface RuleListProps {
  /** What the address says. */
  query: PageProps['query'];
  opened: Opened | null;
  setOpened: (opened: Opened | null) => void;
}

export function RuleList({ query, opened, setOpened }: RuleListProps) {
  const [filter, change] = useAddressFilter(query, NO_FILTER);
  const list = useCursorList<IpRuleView>('/ip-rules', filter, { sort: 'priority' });
  const isNarrowed = Object.values(filter).some((value) => value !== '');
  const onClose = (): void => setOpened(null);
  return (
    <>
      <SearchBar
        label={t('rules.filter')}
        placeholder={t('rules.search')}
        value={filter.q}
        onInput={(q) => change({ q })}
      >
        <SelectField
          label={t('rules.scope')}
          hideLabel
          value={filter.scope}
          choices={LEVELS}
          onChange={(scope) => change({ scope })}
        />
        <SelectField
          label={t('rules.action')}
          hideLabel
          value={filter.type}
          choices={TYPES}
          onChange={(type) => change({ type })}
        />
      </SearchBar>
      <Trouble error={list.error} retry={list.reload} />
      <RuleTable
        list={list}
        empty={<Empty>{isNarrowed ? t('words.noMatch') : NOTHING}</Empty>}
        onAction={(action, rule) => setOpened({ action, rule })}
      />
      <CursorPager label={t('rules.rules')} order="any" note="" {...list.pager} />
      {opened?.action === 'new' && <NewRule onClose={onClose} onDone={list.reload} />}
      {opened?.action === 'edit' && <EditRule rule={opened.rule} onClose={onClose} onDone={list.reload} />}
      {opened?.action === 'remove' && <RemoveRule rule={opened.rule} onClose={onClose} onDone={list.reload} />}
    </>
  );
}

const NOTHING = <p>{rich('rules.empty', { b: bold })}</p>;

function RemoveRule({ rule, onClose, onDone }: { rule: IpRuleView; onClose: () => void; onDone: () => void }) {
  const [force, setForce] = useState(false);
  return (
    <RemoveDialog
      title={t('rules.deleteTitle')}
      path={`/ip-rules/${rule.id}`}
      query={force ? { force } : {}}
      name={rule.pattern}
      done={t('rules.deleted', { pattern: rule.pattern })}
      onClose={onClose}
      onDone={onDone}
    >
      <p>{rich('rules.deleteText', { pattern: rule.pattern, code })}</p>
      {rule.scope === 'console' && <CheckField label={t('rules.forceDelete')} checked={force} onChange={setForce} />}
    </RemoveDialog>
  );
}
