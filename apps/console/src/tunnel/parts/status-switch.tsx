import { useApi } from '../../shared/api/api-context.js';
import { Switch } from '../../shared/components/fields.js';
import { useAction } from '../../shared/state/use-action.js';
import { useMayWrite } from '../user-context.js';

interface StatusSwitchProps {
  /** Of the row in the API. */
  path: string;
  label: string;
  value: 0 | 1;
  field?: 'status' | 'enabled';
  reload: () => void;
}

/** On or off at once. */
export function StatusSwitch({ path, label, value, field = 'status', reload }: StatusSwitchProps) {
  const api = useApi();
  const mayWrite = useMayWrite();
  const { busy, run } = useAction();
  const change = async (on: boolean): Promise<void> => {
    await run(() => api.patch(path, { [field]: on ? 1 : 0 }));
    reload();
  };
  return <Switch label={label} checked={value === 1} disabled={busy || !mayWrite} onChange={(on) => void change(on)} />;
}
