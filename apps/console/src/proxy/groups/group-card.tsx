import type { GroupSwitchResult, OutboundGroupView } from '@gatehouse/contracts';
import { segment } from '../../shared/api/api-client.js';
import { useApi } from '../../shared/api/api-context.js';
import { Badge } from '../../shared/components/page.js';
import { formatBytes, formatCount } from '../../shared/format/amounts.js';
import { formatRelative } from '../../shared/format/times.js';
import { useAction } from '../../shared/state/use-action.js';
import { MemberList } from './member-list.js';

/** What one can ask of a group. */
export type GroupDeed = 'edit' | 'remove' | 'members' | 'history';

/** Members that a card shows; the rest have a list of their own. */
export const PREVIEW = 12;

interface GroupCardProps {
  group: OutboundGroupView;
  onOpen: (deed: GroupDeed) => void;
  reload: () => void;
}

export function GroupCard({ group, onOpen, reload }: GroupCardProps) {
  const { name, type, fixed, automatic, hidden, members_total: total } = group;
  return (
    <section class="card" aria-label={`Group ${name}`}>
      <header class="card-head">
        <h2>
          {name} <Badge tone="none">{type}</Badge> {automatic && <Badge tone="none">automatic</Badge>}{' '}
          {fixed && <Badge tone="info">fixed</Badge>} {hidden && <Badge tone="none">hidden</Badge>}
        </h2>
        <span class="muted">{formatCount(group.active_connections)} open</span>
      </header>
      <p>
        now <strong>{usedBy(group)}</strong>
        <span class="muted">
          {` · ${formatBytes(group.download_total)} down, ${formatBytes(group.upload_total)} up`}
          {group.last_switch &&
            ` · switched ${formatRelative(group.last_switch.at)} (${group.last_switch.reason.replaceAll('_', ' ')})`}
        </span>
      </p>
      <MemberList group={group} members={group.members} reload={reload} />
      <GroupActions group={group} onOpen={onOpen} reload={reload} more={total - group.members.length} />
    </section>
  );
}

function usedBy({ now, type, members_total: total, empty_fallback: fallback }: OutboundGroupView): string {
  if (now !== null) return now;
  return type === 'load-balance' && total > 0 ? 'each connection its own' : `nothing: ${fallback}`;
}

function GroupActions({ group, onOpen, reload, more }: GroupCardProps & { more: number }) {
  const api = useApi();
  const { busy, run } = useAction();
  const release = async (): Promise<void> => {
    const path = `/outbound/groups/${segment(group.name)}/selection`;
    await run(() => api.delete<GroupSwitchResult>(path), `${group.name} selects automatically again.`);
    reload();
  };
  return (
    <div class="dialog-actions">
      {more > 0 && (
        <button type="button" class="small" onClick={() => onOpen('members')}>
          All {formatCount(group.members_total)} members
        </button>
      )}
      {group.fixed && group.type !== 'select' && (
        <button type="button" class="small" disabled={busy} onClick={() => void release()}>
          Choose automatically
        </button>
      )}
      <button type="button" class="small" onClick={() => onOpen('history')}>
        History
      </button>
      {!group.automatic && (
        <button type="button" class="small" onClick={() => onOpen('edit')}>
          Edit
        </button>
      )}
      {!group.automatic && (
        <button type="button" class="small danger" onClick={() => onOpen('remove')}>
          Delete …
        </button>
      )}
    </div>
  );
}
