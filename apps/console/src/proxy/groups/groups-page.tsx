import type { OutboundGroupView, OutboundOverview } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Badge, Page, Trouble } from '../../shared/components/page.js';
import { useResource } from '../../shared/state/use-resource.js';
import { DefaultPolicy } from './default-policy.js';
import { EditGroup } from './edit-group.js';
import { GroupCard, PREVIEW, type GroupDeed } from './group-card.js';
import { GroupHistoryDialog } from './group-history.js';
import { GroupMembersDialog } from './group-members.js';
import { RemoveGroup } from './remove-group.js';

type Opened = { deed: GroupDeed | 'add'; group: OutboundGroupView | null };

/** Where connections go: the groups, what they use now, and what takes the rest. */
export function GroupsPage() {
  const api = useApi();
  const [opened, setOpened] = useState<Opened | null>(null);
  const [showHidden, setShowHidden] = useState(false);
  const { data, error, reload } = useResource(
    (signal) => api.get<OutboundOverview>('/outbound', { members_limit: PREVIEW }, signal),
    [],
    { everyMs: 5_000 },
  );
  return (
    <Page
      title="Groups"
      actions={
        <>
          {data?.groups.some(({ hidden }) => hidden) && (
            <button type="button" aria-pressed={showHidden} onClick={() => setShowHidden(!showHidden)}>
              Show hidden groups
            </button>
          )}
          <button type="button" class="primary" onClick={() => setOpened({ deed: 'add', group: null })}>
            Add group
          </button>
        </>
      }
    >
      <Trouble error={error} retry={reload} />
      {data && data.mode !== 'rule' && (
        <p>
          <Badge tone="fair">mode {data.mode}</Badge> Rules are not asked: the setting <code>routing.mode</code> says
          so.
        </p>
      )}
      {data && <DefaultPolicy overview={data} reload={reload} />}
      <div class="cards">
        {data?.groups
          .filter(({ hidden }) => showHidden || !hidden)
          .map((group) => (
            <GroupCard key={group.name} group={group} onOpen={(deed) => setOpened({ deed, group })} reload={reload} />
          ))}
      </div>
      {opened && <Opened opened={opened} onClose={() => setOpened(null)} reload={reload} />}
    </Page>
  );
}

interface OpenedProps {
  opened: Opened;
  onClose: () => void;
  reload: () => void;
}

function Opened({ opened: { deed, group }, onClose, reload }: OpenedProps) {
  if (group === null || deed === 'add' || deed === 'edit')
    return <EditGroup group={group} onClose={onClose} onDone={reload} />;
  if (deed === 'remove') return <RemoveGroup group={group} onClose={onClose} onDone={reload} />;
  if (deed === 'members') return <GroupMembersDialog name={group.name} onClose={onClose} reload={reload} />;
  return <GroupHistoryDialog name={group.name} onClose={onClose} />;
}
