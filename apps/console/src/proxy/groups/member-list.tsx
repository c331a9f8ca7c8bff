import type { GroupMemberView, OutboundGroupView } from '@gatehouse/contracts';
import { FlaggedName } from '../../shared/components/flag.js';
import { t } from '../messages/index.js';
import { LiveDelay } from '../tests/live-delay.js';
import { useGroupChoice } from './use-group-choice.js';

interface MemberListProps {
  group: Pick<OutboundGroupView, 'name' | 'now' | 'now_proxy' | 'type'>;
  members: readonly GroupMemberView[];
  reload: () => void;
}

/** The first members as buttons, and the one in use before them if it is not among them. */
export function MemberList({ group, members, reload }: MemberListProps) {
  const { busy, choose } = useGroupChoice(group.name, reload);
  if (members.length === 0) return <p class="muted">{t('groups.noMembers')}</p>;
  const isShown = members.some(({ proxy }) => proxy === group.now_proxy);
  return (
    <ul class="members">
      {group.now_proxy !== null && !isShown && (
        <li>
          <button type="button" class="member" title={group.now ?? ''} aria-pressed disabled>
            <span class="name">
              <FlaggedName name={group.now ?? ''} />
            </span>
          </button>
        </li>
      )}
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
      <span class="name">
        <FlaggedName name={member.name} country={member.country} />
      </span>
      <LiveDelay nodeId={member.node_id} alive={member.alive} delayMs={member.delay_ms} />{' '}
      <span class="muted">{[member.type, member.country, member.subscription_name].filter(Boolean).join(' · ')}</span>
    </>
  );
}
