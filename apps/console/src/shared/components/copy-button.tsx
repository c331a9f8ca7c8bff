import { useNotify } from './notices.js';
import { t } from '../messages/index.js';

/** Copies a text; where the browser forbids it (plain http on another host), it shows how to do it by hand. */
export function CopyButton({ text, label = t('common.copy'), what }: { text: string; label?: string; what: string }) {
  const notify = useNotify();
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      notify(t('notice.copied', { what }));
    } catch {
      notify(t('notice.copyFailed'), 'bad');
    }
  };
  return (
    <button type="button" onClick={() => void copy()} aria-label={t('notice.copyWhat', { what })}>
      {label}
    </button>
  );
}
