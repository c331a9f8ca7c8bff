import type { GroupSwitchResult, NodeView, OutboundOverview } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { segment } from '../../shared/api/api-client.js';
import { useApi } from '../../shared/api/api-context.js';
import { Dialog } from '../../shared/components/dialog.js';
import { useNotify } from '../../shared/components/notices.js';
import { Badge } from '../../shared/components/page.js';
import { useAction } from '../../shared/state/use-action.js';
import { t } from '../messages/index.js';
import { groupChoices, type UseChoice } from './exit-path.js';

type Target = Pick<NodeView, 'id' | 'name'>;

/** A node and the groups among which people choose. */
export interface OpenChoice {
  node: Target;
  choices: UseChoice[];
}

/** Makes a node the one that a group uses: at once where one group comes into question, else after a question. */
export function useNode(reload: () => void) {
  const api = useApi();
  const notify = useNotify();
  const { busy, run } = useAction();
  const [open, setOpen] = useState<OpenChoice | null>(null);
  const choose = async (node: Target, group: string): Promise<void> => {
    await run(async () => {
      const path = `/outbound/groups/${segment(group)}`;
      const { now, closed_connections: count } = await api.put<GroupSwitchResult>(path, { proxy: `n${node.id}` });
      const used = { group, node: now ?? t('groups.noNode') };
      notify(count > 0 ? t('groups.usesClosed', { ...used, count }) : t('groups.uses', used));
      setOpen(null);
    });
    reload();
  };
  const makeDefault = async (node: Target): Promise<void> => {
    await run(async () => {
      await api.put('/outbound/default-policy', { policy: `n${node.id}` });
      notify(t('groups.defaultPolicySet', { policy: node.name }));
    });
    reload();
  };
  const use = async (node: Target): Promise<void> => {
    let choices: UseChoice[] = [];
    const query = { member: `n${node.id}`, members: false };
    const isRead = await run(async () => {
      choices = groupChoices(await api.get<OutboundOverview>('/outbound', query), `n${node.id}`);
    });
    if (!isRead) return;
    if (choices.length === 0) await makeDefault(node);
    else if (choices.length === 1) await choose(node, choices[0]!.group);
    else setOpen({ node, choices });
  };
  return { busy, open, use, choose, close: () => setOpen(null) };
}

interface ChooseGroupProps {
  choice: OpenChoice;
  busy: boolean;
  onChoose: (node: Target, group: string) => void;
  onClose: () => void;
}

/** Asks which group a node is for. */
export function ChooseGroup({ choice: { node, choices }, busy, onChoose, onClose }: ChooseGroupProps) {
  return (
    <Dialog title={t('exit.chooseTitle', { name: node.name })} onClose={onClose}>
      <p>{t('exit.chooseText')}</p>
      <ul class="members">
        {choices.map(({ group, isDefault, isUsing, isAutomatic }) => (
          <li key={group}>
            <button
              type="button"
              class="member"
              aria-pressed={isUsing}
              disabled={busy}
              onClick={() => onChoose(node, group)}
            >
              <span class="name">{group}</span>
              <span class="muted">
                {isDefault && <Badge tone="info">{t('groups.defaultPolicy')}</Badge>}{' '}
                {isAutomatic && t('groups.automatic')}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}
