import type { OutboundGroupView, OutboundOverview } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Badge, Page, Trouble } from '../../shared/components/page.js';
import { useResource } from '../../shared/state/use-resource.js';
import { code } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';
import { DefaultPolicy } from './default-policy.js';
import { EditGroup } from './edit-group.js';
import { GroupCard, PREVIEW, type GroupAction } from './group-card.js';
import { GroupHistoryDialog } from './group-history.js';
import { GroupMembersDialog } from './group-members.js';
import { RemoveGroup } from './remove-group.js';

type Opened = { action: GroupAction | 'add'; group: OutboundGroupView | null };

/** Where connections go: the groups, what they use now, and what takes the rest. */
export function GroupsPage() {
  const api = useApi();
  const [opened, setOpened] = useState<Opened | null>(null);
  const [showHidden, setShowHidden] = useState(false);
  const { data, error, reload } = useResource(
    (signal) => api.get<OutboundOverview>('/outbound', { members_limit: PREVIEW }, signal),
    [],
    { everyMs: 5_000, areas: ['groups', 'nodes', 'node-health'] },
  );
  return (
    <Page
      title={t('nav.groups')}
      actions={
        <>
          {data?.groups.some(({ hidden }) => hidden) && (
            <button type="button" aria-pressed={showHidden} onClick={() => setShowHidden(!showHidden)}>
              {t('groups.showHidden')}
            </button>
          )}
          <button type="button" class="primary" onClick={() => setOpened({ action: 'add', group: null })}>
            {t('groups.add')}
          </button>
        </>
      }
    >
      <Trouble error={error} retry={reload} waits={data === undefined} />
      {data && data.mode !== 'rule' && (
        <p>
          <Badge tone="fair">{t('groups.mode', { mode: data.mode })}</Badge>{' '}
          {rich('groups.modeText', { mode: data.mode, code })}
        </p>
      )}
      {data && <DefaultPolicy overview={data} reload={reload} />}
      <div class="cards">
        {data?.groups
          .filter(({ hidden }) => showHidden || !hidden)
          .map((group) => (
            <GroupCard
              key={group.name}
              group={group}
              onOpen={(action) => setOpened({ action, group })}
              reload={reload}
            />
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

function Opened({ opened: { action, group }, onClose, reload }: OpenedProps) {
  if (group === null || action === 'add' || action === 'edit')
    return <EditGroup group={group} onClose={onClose} onDone={reload} />;
  if (action === 'remove') return <RemoveGroup group={group} onClose={onClose} onDone={reload} />;
  if (action === 'members') return <GroupMembersDialog name={group.name} onClose={onClose} reload={reload} />;
  return <GroupHistoryDialog name={group.name} onClose={onClose} />;
}
