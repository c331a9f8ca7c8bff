import { segment } from '../api/api-client.js';
import { useApi } from '../api/api-context.js';
import { RowAction } from '../components/row-actions.js';
import { t } from '../messages/index.js';
import { useAction } from '../state/use-action.js';
import type { DataPlane } from './data-plane.js';

interface ServeAgainProps {
  path: string;
  plane: DataPlane;
  reload: () => void;
}

export function ServeAgain({ path, plane: { id, name }, reload }: ServeAgainProps) {
  const api = useApi();
  const { busy, run } = useAction();
  const serve = async (): Promise<void> => {
    await run(() => api.post(`${path}/${segment(id)}/serve`), t('dataPlanes.servesAgain', { name }));
    reload();
  };
  return (
    <RowAction label={t('dataPlanes.serveName', { name })} disabled={busy} onClick={() => void serve()}>
      {t('dataPlanes.serve')}
    </RowAction>
  );
}
