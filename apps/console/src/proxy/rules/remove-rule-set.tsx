import type { RuleSetView } from '@gatehouse/contracts';
import { useState } from 'preact/hooks';
import { useApi } from '../../shared/api/api-context.js';
import { Confirm } from '../../shared/components/dialog.js';
import { CheckField } from '../../shared/components/fields.js';
import { useAction } from '../../shared/state/use-action.js';

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
    if (!(await run(() => api.delete(path, force ? { force } : {}), `${set.name} was deleted.`))) return;
    onDone();
    onClose();
  };
  return (
    <Confirm
      title="Delete this rule set?"
      action="Delete"
      busy={busy}
      onConfirm={() => void remove()}
      onClose={onClose}
    >
      <p>
        <strong>{set.name}</strong>, {set.entry_count} entries.
      </p>
      <CheckField label="Even if rules name it; they are skipped from then on" checked={force} onChange={setForce} />
    </Confirm>
  );
}
