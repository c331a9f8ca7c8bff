import type { AuditVerification } from '@gatehouse/contracts';
import { useApi } from '../api/api-context.js';
import { useNotify } from '../components/notices.js';
import { formatCount } from '../format/amounts.js';
import { useAction } from '../state/use-action.js';

/** What the witness outside the database adds to a chain that holds. */
const WITNESS: Record<AuditVerification['witness']['status'], string> = {
  confirms: 'Its witness confirms it.',
  behind: 'Its witness does not have the newest rows yet.',
  restored: 'A backup was restored: its witness knows rows that are not in it.',
  contradicts: '',
  unreadable: 'Its witness cannot be read.',
  off: 'It has no witness.',
};

export function VerifyChain() {
  const api = useApi();
  const notify = useNotify();
  const { busy, run } = useAction();
  const verify = (): Promise<boolean> =>
    run(async () => {
      const { checked, broken, witness } = await api.get<AuditVerification>('/audit-logs/verify');
      if (broken === null) notify(`The chain of ${formatCount(checked)} rows holds. ${WITNESS[witness.status]}`);
      else notify(`The chain breaks at row ${broken.id}: ${broken.reason.replaceAll('_', ' ')}.`, 'bad');
    });
  return (
    <button type="button" disabled={busy} onClick={() => void verify()}>
      {busy ? 'Checking …' : 'Check the chain'}
    </button>
  );
}
