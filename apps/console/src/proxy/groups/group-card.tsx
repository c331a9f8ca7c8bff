import type { GroupSwitchResult, OutboundGroupView } from '@gatehouse/contracts';
import { segment } from '../../shared/api/api-client.js';
import { useApi } from '../../shared/api/api-context.js';
import { Badge } from '../../shared/components/page.js';
import { formatBytes } from '../../shared/format/amounts.js';
import { formatRelative } from '../../shared/format/times.js';
import { useAction } from '../../shared/state/use-action.js';
import { FlaggedName } from '../../shared/components/flag.js';
import { rich, t } from '../messages/index.js';
import { MemberList } from './member-list.js';
import { switchReason } from './switch-reason.js';

/** What the buttons of a group open. */
export type GroupAction = 'edit' | 'remove' | 'members' | 'history';

/** Members that a card shows; the dialog has all of them. */
export const PREVIEW = 12;

interface GroupCardProps {
  group: OutboundGroupView;
  onOpen: (action: GroupAction) => void;
  reload: () => void;
}

export function GroupCard({ group, onOpen, reload }: GroupCardProps) {
  const { name, type, fixed, automatic, hidden } = group;
  return (
    <section class="card" aria-label={t('groups.group', { name })}>
      <header class="card-head">
        <h2>
          {name} <Badge tone="none">{type}</Badge> {automatic && <Badge tone="none">{t('groups.automatic')}</Badge>}{' '}
          {fixed && <Badge tone="info">{t('groups.fixed')}</Badge>}{' '}
          {hidden && <Badge tone="none">{t('groups.hidden')}</Badge>}
        </h2>
        <span class="muted">{t('groups.open', { count: group.active_connections })}</span>
      </header>
      <p>
        {rich('groups.now', { node: usedBy(group), b: () => <UsedNode group={group} /> })}
        <span class="muted">
          {` · ${t('words.downUp', { down: formatBytes(group.download_total), up: formatBytes(group.upload_total) })}`}
          {group.last_switch &&
            ` · ${t('groups.switched', {
              time: formatRelative(group.last_switch.at),
              reason: switchReason(group.last_switch.reason),
            })}`}
        </span>
      </p>
      <MemberList group={group} members={group.members} reload={reload} />
      <GroupActions group={group} onOpen={onOpen} reload={reload} />
    </section>
  );
}

function UsedNode({ group }: { group: OutboundGroupView }) {
  const member = group.members.find(({ proxy }) => proxy === group.now_proxy);
  return (
    <strong>
      <FlaggedName name={usedBy(group)} country={member?.country ?? null} />
    </strong>
  );
}

function usedBy({ now, type, members_total: total, empty_fallback: fallback }: OutboundGroupView): string {
  if (now !== null) return now;
  return type === 'load-balance' && total > 0 ? t('groups.perConnection') : t('groups.nothing', { fallback });
}

function GroupActions({ group, onOpen, reload }: GroupCardProps) {
  const api = useApi();
  const { busy, run } = useAction();
  const release = async (): Promise<void> => {
    const path = `/outbound/groups/${segment(group.name)}/selection`;
    await run(() => api.delete<GroupSwitchResult>(path), t('groups.automaticAgain', { name: group.name }));
    reload();
  };
  return (
    <div class="dialog-actions">
      {group.members_total > 0 && (
        <button type="button" class="small" onClick={() => onOpen('members')}>
          {t('groups.allMembers', { count: group.members_total })}
        </button>
      )}
      {group.fixed && group.type !== 'select' && (
        <button type="button" class="small" disabled={busy} onClick={() => void release()}>
          {t('groups.chooseAutomatically')}
        </button>
      )}
      <button type="button" class="small" onClick={() => onOpen('history')}>
        {t('groups.history')}
      </button>
      {!group.automatic && (
        <button type="button" class="small" onClick={() => onOpen('edit')}>
          {t('common.edit')}
        </button>
      )}
      {!group.automatic && (
        <button type="button" class="small danger" onClick={() => onOpen('remove')}>
          {t('common.deleteMore')}
        </button>
      )}
    </div>
  );
}
