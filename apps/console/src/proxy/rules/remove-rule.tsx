import type { RuleView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Confirm } from '../../shared/components/dialog.js';
import { useAction } from '../../shared/state/use-action.js';
import { t } from '../messages/index.js';

interface RemoveRuleProps {
  rule: RuleView;
  onClose: () => void;
  onDone: () => void;
}

export function RemoveRule({ rule, onClose, onDone }: RemoveRuleProps) {
  const api = useApi();
  const { busy, run } = useAction();
  const remove = async (): Promise<void> => {
    if (!(await run(() => api.delete(`/rules/${rule.id}`), t('notice.deleted', { name: rule.raw })))) return;
    onDone();
    onClose();
  };
  return (
    <Confirm
      title={t('rules.deleteTitle')}
      action={t('common.delete')}
      busy={busy}
      onConfirm={() => void remove()}
      onClose={onClose}
    >
      <p>
        <code>{rule.raw}</code>
      </p>
    </Confirm>
  );
}
