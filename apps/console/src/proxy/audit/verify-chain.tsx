import type { AuditVerification } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { useNotify } from '../../shared/components/notices.js';
import { formatCount } from '../../shared/format/amounts.js';
import { useAction } from '../../shared/state/use-action.js';

export function VerifyChain() {
  const api = useApi();
  const notify = useNotify();
  const { busy, run } = useAction();
  const verify = (): Promise<boolean> =>
    run(async () => {
      const { checked, broken } = await api.get<AuditVerification>('/audit-logs/verify');
      if (broken === null) notify(`The chain of ${formatCount(checked)} rows holds.`);
      else notify(`The chain breaks at row ${broken.id}: ${broken.reason.replaceAll('_', ' ')}.`, 'bad');
    });
  return (
    <button type="button" disabled={busy} onClick={() => void verify()}>
      {busy ? 'Checking …' : 'Check the chain'}
    </button>
  );
}
