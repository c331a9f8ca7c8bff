/** After a form was refused: brings the first field with a problem into view and the keyboard to it. */
export function focusFirstProblem(form: EventTarget | null): void {
  requestAnimationFrame(() => {
    if (form instanceof HTMLElement) form.querySelector<HTMLElement>("[aria-invalid='true']")?.focus();
  });
}
