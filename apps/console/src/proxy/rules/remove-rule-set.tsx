import type { RuleSetView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Confirm } from '../../shared/components/dialog.js';
import { CheckField } from '../../shared/components/fields.js';
import { useAction } from '../../shared/state/use-action.js';
import { bold } from '../../shared/components/rich-text.js';
import { rich, t } from '../messages/index.js';

interface RemoveRuleSetProps {
  set: RuleSetView;
  onClose: () => void;
  onDone: () => void;
}

export function RemoveRuleSet({ set, onClose, onDone }: RemoveRuleSetProps) {
  const api = useApi();
  const { busy, run } = useAction();
  const [force, setForce] = useState(false);
  const remove = async (): Promise<void> => {
    const path = `/rule-sets/${set.id}`;
    if (!(await run(() => api.delete(path, force ? { force } : {}), t('notice.deleted', { name: set.name })))) return;
    onDone();
    onClose();
  };
  return (
    <Confirm
      title={t('ruleSets.deleteTitle')}
      action={t('common.delete')}
      busy={busy}
      onConfirm={() => void remove()}
      onClose={onClose}
    >
      <p>{rich('ruleSets.deleteText', { name: set.name, count: set.entry_count, b: bold })}</p>
      <CheckField label={t('ruleSets.force')} checked={force} onChange={setForce} />
    </Confirm>
  );
}
