import type { GroupMemberView, GroupSwitchResult, OutboundGroupView } from '@gatehouse/contracts';
import { segment } from '../../shared/api/api-client.js';
import { useApi } from '../../shared/api/api-context.js';
import { Delay } from '../../shared/components/delay.js';
import { useNotify } from '../../shared/components/notices.js';
import { useAction } from '../../shared/state/use-action.js';

interface MemberListProps {
  group: Pick<OutboundGroupView, 'name' | 'now_proxy' | 'type'>;
  members: readonly GroupMemberView[];
  reload: () => void;
}

/** Every member as a button; pressing one makes the group use it. */
export function MemberList({ group, members, reload }: MemberListProps) {
  const api = useApi();
  const notify = useNotify();
  const { busy, run } = useAction();
  const choose = async (proxy: string): Promise<void> => {
    await run(async () => {
      const result = await api.put<GroupSwitchResult>(`/outbound/groups/${segment(group.name)}`, { proxy });
      const closed = result.closed_connections > 0 ? `, ${result.closed_connections} connections ended` : '';
      notify(`${result.name} uses ${result.now ?? 'nothing'}${closed}.`);
    });
    reload();
  };
  if (members.length === 0) return <p class="muted">No members.</p>;
  return (
    <ul class="members">
      {members.map((member) => (
        <li key={member.proxy}>
          {group.type === 'load-balance' ? (
            <div class="member" title={member.name}>
              <MemberText member={member} />
            </div>
          ) : (
            <button
              type="button"
              class="member"
              title={member.name}
              aria-pressed={member.proxy === group.now_proxy}
              disabled={busy}
              onClick={() => void choose(member.proxy)}
            >
              <MemberText member={member} />
            </button>
          )}
        </li>
      ))}
    </ul>
  );
}

function MemberText({ member }: { member: GroupMemberView }) {
  return (
    <>
      <span class="name">{member.name}</span>
      <Delay alive={member.alive} delayMs={member.delay_ms} />{' '}
      <span class="muted">{[member.type, member.country].filter(Boolean).join(' · ')}</span>
    </>
  );
}
