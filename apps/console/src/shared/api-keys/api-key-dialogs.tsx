import { RemoveDialog } from '../components/remove-dialog.js';
import { SecretDialog } from '../components/secret-dialog.js';
import { Secret } from '../components/secret.js';
import { bold } from '../components/rich-text.js';
import { rich, t } from '../messages/index.js';

interface ShowKeyProps {
  created: { name: string; key: string };
  onClose: () => void;
}

/** After a key was made. */
export function ShowKey({ created: { name, key }, onClose }: ShowKeyProps) {
  return (
    <SecretDialog title={t('apiKeys.keyOf', { name })} onClose={onClose}>
      <p>{t('apiKeys.copyNow')}</p>
      <Secret text={key} what={t('apiKeys.key')} />
    </SecretDialog>
  );
}

interface RevokeKeyProps {
  apiKey: { id: number; name: string };
  onClose: () => void;
  onDone: () => void;
}

export function RevokeKey({ apiKey: { id, name }, onClose, onDone }: RevokeKeyProps) {
  return (
    <RemoveDialog
      title={t('apiKeys.revokeTitle')}
      action={t('apiKeys.revoke')}
      done={t('apiKeys.revoked', { name })}
      path={`/api-keys/${id}`}
      name={name}
      onClose={onClose}
      onDone={onDone}
    >
      <p>{rich('apiKeys.revokeText', { name, b: bold })}</p>
    </RemoveDialog>
  );
}
