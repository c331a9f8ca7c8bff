import type { PublicationCreated, PublicationView } from '@gatehouse/contracts';
import { useApi } from '../../shared/api/api-context.js';
import { Confirm } from '../../shared/components/dialog.js';
import { RemoveDialog } from '../../shared/components/remove-dialog.js';
import { bold } from '../../shared/components/rich-text.js';
import { useAction } from '../../shared/state/use-action.js';
import { rich, t } from '../messages/index.js';

interface PublicationDialogProps {
  publication: PublicationView;
  onClose: () => void;
  onDone: () => void;
}

/** The address stays, and answers again once it is switched on. */
export function SwitchOff({ publication: { id, name }, onClose, onDone }: PublicationDialogProps) {
  const api = useApi();
  const { busy, run } = useAction();
  const switchOff = async (): Promise<void> => {
    const isDone = await run(
      () => api.put(`/publications/${id}`, { enabled: false }),
      t('publications.switchedOff', { name }),
    );
    if (!isDone) return;
    onDone();
    onClose();
  };
  return (
    <Confirm
      title={t('publications.switchOffTitle')}
      action={t('publications.switchOff')}
      busy={busy}
      onConfirm={() => void switchOff()}
      onClose={onClose}
    >
      <p>{rich('publications.switchOffText', { name, b: bold })}</p>
    </Confirm>
  );
}

interface NewAddressProps extends Omit<PublicationDialogProps, 'onDone'> {
  onCreated: (created: PublicationCreated) => void;
}

export function NewAddress({ publication: { id, name }, onClose, onCreated }: NewAddressProps) {
  const api = useApi();
  const { busy, run } = useAction();
  const replace = (): Promise<boolean> =>
    run(async () => onCreated(await api.post<PublicationCreated>(`/publications/${id}/token`)));
  return (
    <Confirm
      title={t('publications.replaceTitle')}
      action={t('publications.replace')}
      busy={busy}
      onConfirm={() => void replace()}
      onClose={onClose}
    >
      <p>{rich('publications.replaceText', { name, b: bold })}</p>
    </Confirm>
  );
}

export function RemovePublication({ publication: { id, name }, onClose, onDone }: PublicationDialogProps) {
  return (
    <RemoveDialog
      title={t('publications.deleteTitle')}
      path={`/publications/${id}`}
      name={name}
      onClose={onClose}
      onDone={onDone}
    >
      <p>{rich('publications.deleteText', { name, b: bold })}</p>
    </RemoveDialog>
  );
}
