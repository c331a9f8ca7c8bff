import type { DefaultPolicyResult, OutboundOverview } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { plainChoices, SelectField } from '../../shared/components/fields.js';
import { useAction } from '../../shared/state/use-action.js';

export function DefaultPolicy({ overview, reload }: { overview: OutboundOverview; reload: () => void }) {
  const api = useApi();
  const { run } = useAction();
  const { default_policy: current, policies } = overview;
  const choose = async (policy: string): Promise<void> => {
    await run(
      () => api.put<DefaultPolicyResult>('/outbound/default-policy', { policy }),
      `What no rule takes goes to ${policy}.`,
    );
    reload();
  };
  return (
    <div class="card">
      <SelectField
        label="Default policy"
        hint="Takes every connection that no rule matches"
        value={current}
        choices={plainChoices(policies.includes(current) ? policies : [current, ...policies])}
        onChange={(policy) => void choose(policy)}
      />
    </div>
  );
}
