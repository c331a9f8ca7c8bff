import type { ComponentChildren } from 'preact';
import { segment } from '../api/api-client.js';
import { useApi } from '../api/api-context.js';
import { Confirm } from '../components/dialog.js';
import { t } from '../messages/index.js';
import { useAction } from '../state/use-action.js';
import type { DataPlane } from './data-plane.js';

interface DrainDialogProps {
  path: string;
  plane: DataPlane;
  title: string;
  children: ComponentChildren;
  onClose: () => void;
  onDone: () => void;
}

export function DrainDialog({ path, plane: { id, name }, title, children, onClose, onDone }: DrainDialogProps) {
  const api = useApi();
  const { busy, run } = useAction();
  const drain = (): Promise<boolean> =>
    run(
      async () => {
        await api.post(`${path}/${segment(id)}/drain`);
        onDone();
        onClose();
      },
      t('dataPlanes.drains', { name }),
    );
  return (
    <Confirm title={title} action={t('dataPlanes.drain')} busy={busy} onConfirm={() => void drain()} onClose={onClose}>
      <p>{children}</p>
    </Confirm>
  );
}
