import type { GroupMemberView, NodeTestResult, OutboundGroupView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { segment } from '../../shared/api/api-client.js';
import { useApi } from '../../shared/api/api-context.js';
import { FlaggedName } from '../../shared/components/flag.js';
import { Delay } from '../../shared/components/delay.js';
import { Dialog } from '../../shared/components/dialog.js';
import { CheckField, SelectField } from '../../shared/components/fields.js';
import { Trouble } from '../../shared/components/page.js';
import { SearchBar } from '../../shared/components/search-bar.js';
import { VirtualList } from '../../shared/components/virtual-list.js';
import { useAction } from '../../shared/state/use-action.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import { MEMBER_SORTS, selectMembers, type MemberSelection, type MemberSort } from './member-selection.js';
import { useGroupChoice } from './use-group-choice.js';

const ROW_HEIGHT = 46;

interface GroupMembersDialogProps {
  name: string;
  onClose: () => void;
  reload: () => void;
}

/** All members of a group, with search: choosing one among ten thousand is typing its name and one click. */
export function GroupMembersDialog({ name, onClose, reload }: GroupMembersDialogProps) {
  const api = useApi();
  const [selection, setSelection] = useState<MemberSelection>({ search: '', sort: 'default', hideDead: false });
  const {
    data: group,
    error,
    reload: reloadGroup,
  } = useResource((signal) => api.get<OutboundGroupView>(`/outbound/groups/${segment(name)}`, {}, signal), [name]);
  const reloadBoth = (): void => {
    reloadGroup();
    reload();
  };
  const shown = group === undefined ? [] : selectMembers(group.members, selection, group.now_proxy);
  return (
    <Dialog title={t('groups.membersOf', { name })} onClose={onClose} wide>
      <Trouble error={error} retry={reloadGroup} />
      <MemberFilter selection={selection} onChange={(changes) => setSelection({ ...selection, ...changes })} />
      {group && (
        <>
          <div class="page-head">
            <span class="muted" role="status">
              {t('groups.shown', { shown: shown.length, total: group.members_total })}
            </span>
            <TestMembers members={shown} onDone={reloadBoth} />
          </div>
          <Members group={group} members={shown} reload={reloadBoth} />
        </>
      )}
    </Dialog>
  );
}

interface MemberFilterProps {
  selection: MemberSelection;
  onChange: (changes: Partial<MemberSelection>) => void;
}

function MemberFilter({ selection, onChange }: MemberFilterProps) {
  const sorts: Record<MemberSort, string> = {
    default: t('groups.sortDefault'),
    delay: t('groups.sortDelay'),
    name: t('groups.sortName'),
  };
  return (
    <SearchBar
      label={t('groups.searchMembers')}
      placeholder={t('groups.searchMembers')}
      value={selection.search}
      onInput={(search) => onChange({ search })}
    >
      <SelectField
        label={t('groups.sortBy')}
        hideLabel
        value={selection.sort}
        choices={MEMBER_SORTS.map((value) => ({ value, label: sorts[value] }))}
        onChange={(sort) => onChange({ sort: sort as MemberSort })}
      />
      <CheckField
        label={t('groups.hideDead')}
        checked={selection.hideDead}
        onChange={(hideDead) => onChange({ hideDead })}
      />
    </SearchBar>
  );
}

interface MembersProps {
  group: OutboundGroupView;
  members: readonly GroupMemberView[];
  reload: () => void;
}

function Members({ group, members, reload }: MembersProps) {
  const { busy, choose } = useGroupChoice(group.name, reload);
  return (
    <VirtualList
      label={t('groups.membersOf', { name: group.name })}
      items={members}
      itemKey={({ proxy }) => proxy}
      rowHeight={ROW_HEIGHT}
    >
      {(member) => (
        <button
          type="button"
          class="member"
          aria-pressed={member.proxy === group.now_proxy}
          disabled={busy || group.type === 'load-balance'}
          onClick={() => void choose(member.proxy)}
        >
          <span class="name">
            <FlaggedName name={member.name} country={member.country} />
            <span class="second">
              {[member.type, member.country, member.subscription_name].filter(Boolean).join(' · ')}
            </span>
          </span>
          <Delay alive={member.alive} delayMs={member.delay_ms} />
        </button>
      )}
    </VirtualList>
  );
}

/** A longer list is what "Test all" of the nodes is for. */
const MOST_TESTED = 200;
const TESTS_AT_ONCE = 8;

/** Tests the nodes that are shown, a few at a time. */
function TestMembers({ members, onDone }: { members: readonly GroupMemberView[]; onDone: () => void }) {
  const api = useApi();
  const { busy, run } = useAction();
  const ids = members.flatMap(({ node_id: id }) => (id === null ? [] : [id])).slice(0, MOST_TESTED);
  const test = async (): Promise<void> => {
    const waiting = ids.values();
    const worker = async (): Promise<void> => {
      for (const id of waiting) await api.post<NodeTestResult>(`/proxies/${id}/test`).catch(() => undefined);
    };
    await run(() => Promise.all(Array.from({ length: TESTS_AT_ONCE }, worker)));
    onDone();
  };
  return (
    <button type="button" disabled={busy || ids.length === 0} onClick={() => void test()}>
      {busy ? t('groups.testing') : t('groups.testGroup')}
    </button>
  );
}
