import type { AuditVerification } from '@gatehouse/contracts';
import { useApi } from '../api/api-context.js';
import { useNotify } from '../components/notices.js';
import { useAction } from '../state/use-action.js';
import { t } from '../messages/index.js';

export function VerifyChain() {
  const api = useApi();
  const notify = useNotify();
  const { busy, run } = useAction();
  const verify = (): Promise<boolean> =>
    run(async () => {
      const { checked, broken, witness } = await api.get<AuditVerification>('/audit-logs/verify');
      if (broken === null) {
        // What the witness outside the database says about a chain that is intact.
        notify(`${t('audit.chainHolds', { count: checked })} ${t(`audit.witness.${witness.status}`)}`);
      } else notify(t('audit.chainBroken', { id: broken.id, reason: t(`audit.breaks.${broken.reason}`) }), 'bad');
    });
  return (
    <button type="button" disabled={busy} onClick={() => void verify()}>
      {busy ? t('audit.verifying') : t('audit.verify')}
    </button>
  );
}
