const PAUSE_MS = 400;

/**
 * Says what is wrong with a field while it is typed (`data-check`: the address to ask, which answers `{ problems }`). The
 * other fields of the form go with it: what is right for one kind of application is wrong for another.
 */
export function checkWhileTyping(page: Document): void {
  for (const field of page.querySelectorAll<HTMLTextAreaElement>('textarea[data-check]')) watch(page, field);
}

function watch(page: Document, field: HTMLTextAreaElement): void {
  const note = page.createElement('p');
  note.className = 'problem';
  note.id = `${field.id}-check`;
  note.setAttribute('role', 'status');
  note.hidden = true;
  field.after(note);
  field.setAttribute('aria-describedby', `${field.getAttribute('aria-describedby') ?? ''} ${note.id}`.trim());
  let timer: ReturnType<typeof setTimeout> | undefined;
  let asked = 0;
  const check = async (): Promise<void> => {
    const number = ++asked;
    const problems = await ask(field).catch(() => []);
    if (number !== asked) return; // something else has been typed since
    note.textContent = problems.join('; ');
    note.hidden = problems.length === 0;
    if (problems.length > 0) field.setAttribute('aria-invalid', 'true');
    else field.removeAttribute('aria-invalid');
  };
  const later = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => void check(), PAUSE_MS);
  };
  field.addEventListener('input', later);
  kindOf(field)?.addEventListener('change', later);
}

async function ask(field: HTMLTextAreaElement): Promise<string[]> {
  const address = new URL(field.dataset['check']!, location.href);
  address.searchParams.set(field.name, field.value);
  const kind = kindOf(field);
  if (kind !== null) address.searchParams.set('kind', kind.value);
  const answer = await fetch(address, { signal: AbortSignal.timeout(5_000) });
  if (!answer.ok) return []; // the form itself says what is wrong when it is sent
  return ((await answer.json()) as { problems: string[] }).problems;
}

/** What kind of application the form is about, where that can be chosen. */
function kindOf(field: HTMLTextAreaElement): HTMLSelectElement | null {
  const kind = field.form?.elements.namedItem('kind');
  return kind instanceof HTMLSelectElement ? kind : null;
}
