/** Shows the buttons that copy a text (`data-copy`, `data-copied`): pages hide them where no script runs. */
export function copyButtons(page: Document): void {
  // Browsers offer no clipboard to pages over plain http on other hosts.
  if (!('clipboard' in navigator)) return;
  for (const button of page.querySelectorAll<HTMLButtonElement>('button[data-copy]')) {
    button.hidden = false;
    const before = button.textContent;
    button.addEventListener('click', () => {
      void navigator.clipboard.writeText(button.dataset['copy'] ?? '').then(() => {
        button.textContent = button.dataset['copied'] ?? before;
        setTimeout(() => (button.textContent = before), 2_000);
      });
    });
  }
}
