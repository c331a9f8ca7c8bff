import type { ComponentChildren } from 'preact';
import { Dialog } from './dialog.js';
import { t } from '../messages/index.js';

interface SecretDialogProps {
  title: string;
  wide?: boolean;
  /** The secret, and what it is for. */
  children: ComponentChildren;
  onClose: () => void;
}

/** Shows a secret that cannot be read again, until the user confirms that it is saved. */
export function SecretDialog({ title, wide = false, children, onClose }: SecretDialogProps) {
  return (
    <Dialog title={title} onClose={onClose} wide={wide}>
      {children}
      <div class="dialog-actions">
        <button type="button" class="primary" onClick={onClose}>
          {t('secret.saved')}
        </button>
      </div>
    </Dialog>
  );
}
