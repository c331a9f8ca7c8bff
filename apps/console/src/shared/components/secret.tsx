import { CopyButton } from './copy-button.js';

/** A text to be taken away, such as a key that is shown once. */
export function Secret({ text, what }: { text: string; what: string }) {
  return (
    <p class="secret">
      <code>{text}</code>
      <CopyButton text={text} what={what} />
    </p>
  );
}
