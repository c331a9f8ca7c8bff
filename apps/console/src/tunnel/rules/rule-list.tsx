import type { IpRuleView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { CursorPager } from '../../shared/components/cursor-pager.js';
import { CheckField, SelectField } from '../../shared/components/fields.js';
import { Trouble } from '../../shared/components/page.js';
import { RemoveDialog } from '../../shared/components/remove-dialog.js';
import { SearchBar } from '../../shared/components/search-bar.js';
import { useCursorList } from '../../shared/state/use-cursor-list.js';
import { Empty } from '../parts/empty.js';
import { EditRule, NewRule } from './edit-rule.js';
import { SCOPES } from './rule-form.js';
import { RuleTable, type RuleDeed } from './rule-table.js';

export type Opened = { deed: 'new' } | { deed: RuleDeed; rule: IpRuleView };

const TYPES = [
  { value: '', label: 'Both ways' },
  { value: 'allow', label: 'Allow' },
  { value: 'deny', label: 'Deny' },
];
const LEVELS = [
  { value: '', label: 'About anything' },
  ...Object.entries(SCOPES).map(([value, label]) => ({ value, label })),
];

interface RuleListProps {
  opened: Opened | null;
  setOpened: (opened: Opened | null) => void;
}

export function RuleList({ opened, setOpened }: RuleListProps) {
  const [filter, setFilter] = useState({ q: '', scope: '', type: '' });
  const list = useCursorList<IpRuleView>('/ip-rules', filter, { sort: 'priority' });
  const isNarrowed = Object.values(filter).some((value) => value !== '');
  const onClose = (): void => setOpened(null);
  return (
    <>
      <SearchBar
        label="Filter rules"
        placeholder="Search in addresses and remarks"
        value={filter.q}
        onInput={(q) => setFilter({ ...filter, q })}
      >
        <SelectField
          label="Level"
          hideLabel
          value={filter.scope}
          choices={LEVELS}
          onChange={(scope) => setFilter({ ...filter, scope })}
        />
        <SelectField
          label="What they do"
          hideLabel
          value={filter.type}
          choices={TYPES}
          onChange={(type) => setFilter({ ...filter, type })}
        />
      </SearchBar>
      <Trouble error={list.error} retry={list.reload} />
      <RuleTable
        list={list}
        empty={<Empty>{isNarrowed ? 'No rule is like that.' : NOTHING}</Empty>}
        onDeed={(deed, rule) => setOpened({ deed, rule })}
      />
      <CursorPager label="rules" order="any" note="" {...list.pager} />
      {opened?.deed === 'new' && <NewRule onClose={onClose} onDone={list.reload} />}
      {opened?.deed === 'edit' && <EditRule rule={opened.rule} onClose={onClose} onDone={list.reload} />}
      {opened?.deed === 'remove' && <RemoveRule rule={opened.rule} onClose={onClose} onDone={list.reload} />}
    </>
  );
}

const NOTHING = (
  <p>
    <strong>No rule yet:</strong> visitors may come from any address. An allow rule denies every other address at its
    level. A deny rule denies only its own addresses.
  </p>
);

function RemoveRule({ rule, onClose, onDone }: { rule: IpRuleView; onClose: () => void; onDone: () => void }) {
  const [force, setForce] = useState(false);
  return (
    <RemoveDialog
      title="Delete this rule?"
      path={`/ip-rules/${rule.id}`}
      query={force ? { force } : {}}
      name={`The rule about ${rule.pattern}`}
      onClose={onClose}
      onDone={onDone}
    >
      <p>
        The rule for <code>{rule.pattern}</code> ends at once. Connected visitors are checked again.
      </p>
      {rule.scope === 'console' && (
        <CheckField label="Also if that shuts me out: I have another way in" checked={force} onChange={setForce} />
      )}
    </RemoveDialog>
  );
}
