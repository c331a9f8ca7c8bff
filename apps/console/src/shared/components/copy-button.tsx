import { useNotify } from './notices.js';

/** Copies a text; where the browser forbids it (plain http on another host), it shows how to do it by hand. */
export function CopyButton({ text, label = 'Copy', what }: { text: string; label?: string; what: string }) {
  const notify = useNotify();
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      notify(`${what} copied.`);
    } catch {
      notify('The browser does not allow copying here: select the text and copy it by hand.', 'bad');
    }
  };
  return (
    <button type="button" onClick={() => void copy()} aria-label={`Copy ${what}`}>
      {label}
    </button>
  );
}
