/** Language and theme change when one is chosen; without a script a button sends the form. */
export function preferences(page: Document): void {
  const form = page.querySelector<HTMLFormElement>('form.preferences');
  if (form === null) return;
  form.querySelector<HTMLButtonElement>('button')?.setAttribute('hidden', '');
  form.addEventListener('change', () => form.requestSubmit());
}
