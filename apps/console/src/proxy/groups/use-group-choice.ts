import type { GroupSwitchResult } from '@gatehouse/contracts';
import { segment } from '../../shared/api/api-client.js';
import { useApi } from '../../shared/api/api-context.js';
import { useNotify } from '../../shared/components/notices.js';
import { useAction } from '../../shared/state/use-action.js';
import { t } from '../messages/index.js';

/** Makes a group use one of its members. `proxy`: as `GroupMemberView` has it. */
export function useGroupChoice(group: string, reload: () => void) {
  const api = useApi();
  const notify = useNotify();
  const { busy, run } = useAction();
  const choose = async (proxy: string): Promise<void> => {
    await run(async () => {
      const result = await api.put<GroupSwitchResult>(`/outbound/groups/${segment(group)}`, { proxy });
      const { name, now, closed_connections: count } = result;
      const node = now ?? t('groups.noNode');
      notify(
        count > 0 ? t('groups.usesClosed', { group: name, node, count }) : t('groups.uses', { group: name, node }),
      );
    });
    reload();
  };
  return { busy, choose };
}
