import type { ComponentChildren } from 'preact';
import type { Query } from '../api/api-client.js';
import { useApi } from '../api/api-context.js';
import { useAction } from '../state/use-action.js';
import { Confirm } from './dialog.js';

interface RemoveDialogProps {
  title: string;
  /** Of the row in the API. */
  path: string;
  query?: Query;
  /** What the notice afterwards calls it. */
  name: string;
  action?: string;
  /** What the notice afterwards says of it. */
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
  action = 'Delete',
  done = 'removed',
  children,
  onClose,
  onDone,
}: RemoveDialogProps) {
  const api = useApi();
  const { busy, run } = useAction();
  const remove = async (): Promise<void> => {
    if (!(await run(() => api.delete(path, query), `${name} was ${done}.`))) return;
    onDone();
    onClose();
  };
  return (
    <Confirm title={title} action={action} busy={busy} onConfirm={() => void remove()} onClose={onClose}>
      {children}
    </Confirm>
  );
}
