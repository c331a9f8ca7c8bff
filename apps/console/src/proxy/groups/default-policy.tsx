import type { DefaultPolicyResult, OutboundOverview } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { plainChoices, SelectField } from '../../shared/components/fields.js';
import { useAction } from '../../shared/state/use-action.js';
import { t } from '../messages/index.js';

export function DefaultPolicy({ overview, reload }: { overview: OutboundOverview; reload: () => void }) {
  const api = useApi();
  const { run } = useAction();
  const { default_policy: current, policies } = overview;
  const choose = async (policy: string): Promise<void> => {
    await run(
      () => api.put<DefaultPolicyResult>('/outbound/default-policy', { policy }),
      t('groups.defaultPolicySet', { policy }),
    );
    reload();
  };
  return (
    <div class="card">
      <SelectField
        label={t('groups.defaultPolicy')}
        hint={t('groups.defaultPolicyHint')}
        value={current}
        choices={plainChoices(policies.includes(current) ? policies : [current, ...policies])}
        onChange={(policy) => void choose(policy)}
      />
    </div>
  );
}
