import type { GroupMemberView, OutboundGroupView } from '@gatehouse/contracts';
import { useCallback, useState } from 'preact/hooks';
import { segment } from '../../shared/api/api-client.js';
import { useApi } from '../../shared/api/api-context.js';
import { FlaggedName } from '../../shared/components/flag.js';
import { Dialog } from '../../shared/components/dialog.js';
import { CheckField, SelectField } from '../../shared/components/fields.js';
import { Trouble } from '../../shared/components/page.js';
import { SearchBar } from '../../shared/components/search-bar.js';
import { VirtualList } from '../../shared/components/virtual-list.js';
import { useResource } from '../../shared/state/use-resource.js';
import { t } from '../messages/index.js';
import { LiveDelay } from '../tests/live-delay.js';
import { RunProgress } from '../tests/run-progress.js';
import { useDelayRun } from '../tests/use-delay-run.js';
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
  const reloadBoth = useCallback((): void => {
    reloadGroup();
    reload();
  }, [reloadGroup, reload]);
  const run = useDelayRun(reloadBoth);
  const shown = group === undefined ? [] : selectMembers(group.members, selection, group.now_proxy);
  const nodes = shown.flatMap(({ node_id: id }) => (id === null ? [] : [id]));
  return (
    <Dialog title={t('groups.membersOf', { name })} onClose={onClose} wide>
      <Trouble error={error} retry={reloadGroup} waits={group === undefined} />
      <MemberFilter selection={selection} onChange={(changes) => setSelection({ ...selection, ...changes })} />
      {group && (
        <>
          <div class="page-head">
            <span class="muted" role="status">
              {t('groups.shown', { shown: shown.length, total: group.members_total })}
            </span>
            <button
              type="button"
              disabled={run.tally !== null || nodes.length === 0}
              onClick={() => void run.start(nodes)}
            >
              {run.tally === null ? t('groups.testGroup') : t('groups.testing')}
            </button>
          </div>
          <RunProgress run={run} />
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
          <LiveDelay nodeId={member.node_id} alive={member.alive} delayMs={member.delay_ms} />
        </button>
      )}
    </VirtualList>
  );
}
