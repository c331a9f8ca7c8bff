import type { ComponentChildren } from 'preact';
import type { Query } from '../api/api-client.js';
import { useApi } from '../api/api-context.js';
import { useAction } from '../state/use-action.js';
import { Confirm } from './dialog.js';
import { t } from '../messages/index.js';

interface RemoveDialogProps {
  title: string;
  /** Of the row in the API. */
  path: string;
  query?: Query;
  /** For the notice afterwards. */
  name: string;
  action?: string;
  /** The notice afterwards. */
  done?: string;
  /** What goes with it. */
  children: ComponentChildren;
  onClose: () => void;
  onDone: () => void;
}

/** Asks once more, then removes a row. */
export function RemoveDialog({
  title,
  path,
  query,
  name,
  action = t('common.delete'),
  done = t('notice.deleted', { name }),
  children,
  onClose,
  onDone,
}: RemoveDialogProps) {
  const api = useApi();
  const { busy, run } = useAction();
  const remove = async (): Promise<void> => {
    if (!(await run(() => api.delete(path, query), done))) return;
    onDone();
    onClose();
  };
  return (
    <Confirm title={title} action={action} busy={busy} onConfirm={() => void remove()} onClose={onClose}>
      {children}
    </Confirm>
  );
}
