import type { ComponentChildren } from 'preact';
import { useRow, type Row } from '../state/use-row.js';
import { Dialog } from './dialog.js';
import { Trouble } from './page.js';

interface EditDialogProps<T> {
  title: string;
  /** Of the row in the API. */
  path: string;
  wide?: boolean;
  onClose: () => void;
  /** The form; it is reset when the row is read again. */
  children: (row: T, version: Pick<Row<T>, 'etag' | 'reload'>) => ComponentChildren;
}

/** A dialog about one row as it is now, not as a list had it. */
export function EditDialog<T>({ title, path, wide = false, onClose, children }: EditDialogProps<T>) {
  const { row, etag, error, reload } = useRow<T>(path);
  return (
    <Dialog title={title} onClose={onClose} wide={wide}>
      <Trouble error={error} retry={reload} waits={row === undefined} />
      {row && <div key={etag}>{children(row, { etag, reload })}</div>}
    </Dialog>
  );
}
