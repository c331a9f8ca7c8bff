import { RemoveDialog } from '../components/remove-dialog.js';
import { SecretDialog } from '../components/secret-dialog.js';
import { Secret } from '../components/secret.js';

interface ShowKeyProps {
  created: { name: string; key: string };
  onClose: () => void;
}

/** After a key was made. */
export function ShowKey({ created: { name, key }, onClose }: ShowKeyProps) {
  return (
    <SecretDialog title={`The key ${name}`} onClose={onClose}>
      <p>Copy it now. You will not be able to see it again.</p>
      <Secret text={key} what="Key" />
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
      title="Revoke this key?"
      action="Revoke"
      done="revoked"
      path={`/api-keys/${id}`}
      name={name}
      onClose={onClose}
      onDone={onDone}
    >
      <p>
        Programs that use <strong>{name}</strong> are refused from now on.
      </p>
    </RemoveDialog>
  );
}
