/** Shows the buttons that copy a text (`data-copy`) and say what came of it: pages hide them where no script runs. */
export function copyButtons(page: Document): void {
  // Browsers offer no clipboard to pages over plain http on other hosts.
  if (!('clipboard' in navigator)) return;
  for (const button of page.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
    button.hidden = false;
    const before = button.textContent;
    const say = (text: string | undefined, forMs: number): void => {
      button.textContent = text ?? before;
      setTimeout(() => (button.textContent = before), forMs);
    };
    button.addEventListener('click', () => {
      navigator.clipboard.writeText(button.dataset['copy'] ?? '').then(
        () => say(button.dataset['copied'], 2_000),
        // The browser may not allow it.
        () => say(button.dataset['copyFailed'], 6_000),
      );
    });
  }
}
