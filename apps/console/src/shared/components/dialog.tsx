import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { FlaggedName } from './flag.js';
import { t } from '../messages/index.js';

export interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  wide?: boolean;
}

/** The browser's own modal dialog: it keeps the focus inside and closes with Escape; then the focus goes back. */
export function Dialog({ title, onClose, children, wide = false }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useLayoutEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    element?.showModal();
    return () => {
      element?.close();
      // By now it may have left the page, and then the browser no longer gives the focus back.
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} class={wide ? 'wide' : ''} aria-labelledby={heading} onCancel={onClose}>
      <header class="dialog-head">
        <h2 id={heading}>
          <FlaggedName name={title} />
        </h2>
        <button type="button" class="quiet" aria-label={t('common.close')} onClick={onClose}>
          ×
        </button>
      </header>
      <div class="dialog-body">{children}</div>
    </dialog>
  );
}

export interface ConfirmProps {
  title: string;
  /** What happens, and what cannot be taken back. */
  children: ComponentChildren;
  action: string;
  busy: boolean;
  /** Nothing is lost by it. */
  isSafe?: boolean;
  onConfirm: () => void;
  onClose: () => void;
}

export function Confirm({ title, children, action, busy, isSafe = false, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <div class="dialog-actions">
        <button type="button" onClick={onClose}>
          {t('common.cancel')}
        </button>
        <button type="button" class={isSafe ? 'primary' : 'danger'} disabled={busy} onClick={onConfirm}>
          {action}
        </button>
      </div>
    </Dialog>
  );
}
