import type { JSHandle, Page } from 'playwright-core';

/**
 * For the page: what can be pressed in the dialog that is open, or else in the page, one of each kind, by a key that stays
 * the same when the page is opened again. Buttons that send a form, choose a view, sort or copy open nothing.
 */
const BUTTONS = `(() => {
  const scope = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.querySelector('main') ?? document.body;
  const buttons = new Map();
  for (const button of scope.querySelectorAll('button, summary')) {
    if (button.disabled || !button.checkVisibility({ visibilityProperty: true })) continue;
    if (button.matches('[type=submit], [aria-pressed], [aria-selected], .sort, .handle, .dialog-head *, form[method] *')) continue;
    const row = button.closest('tr, [role=row], li, article');
    // What a row is called differs from row to row.
    const text = row !== null && button.classList.contains('link') ? '' : button.innerText.trim();
    const place = row === null ? '' : row.parentElement.className + ' ' + row.localName;
    const key = [button.localName, button.className, place, text].join('|');
    if (!buttons.has(key)) buttons.set(key, button);
  }
  return buttons;
})()`;

/** For the page: what is open beyond the page itself. */
const OPEN = `(() => {
  const dialog = [...document.querySelectorAll('dialog[open]')].at(-1);
  const scope = dialog ?? document.querySelector('main') ?? document.body;
  const count = (selector) => scope.querySelectorAll(selector).length;
  return {
    title: dialog?.querySelector('h2')?.innerText ?? '',
    state: [location.href, dialog?.querySelector('h2')?.innerText ?? '', count('form'), count('details[open]'), count('.secret'), count('.qr')].join('|'),
  };
})()`;

/** What is open beyond the page itself. */
export interface OpenState {
  /** Of the dialog; empty: none is open. */
  title: string;
  /** Another text when another dialog, form or secret is shown. */
  state: string;
}

export function openState(page: Page): Promise<OpenState> {
  return page.evaluate<OpenState>(OPEN);
}

/** The keys of what can be pressed. */
export function buttonKeys(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(`[...${BUTTONS}.keys()]`);
}

/** Presses a button by its key; false if it is not there. */
export async function pressButton(page: Page, key: string): Promise<boolean> {
  const found: JSHandle = await page.evaluateHandle(`${BUTTONS}.get(${JSON.stringify(key)}) ?? null`);
  const button = found.asElement();
  if (button === null) return false;
  await button.click({ timeout: 5_000 });
  await drawn(page);
  return true;
}

/** Fills in what the form that is open requires, and sends it; false if there is none. */
export async function sendForm(page: Page): Promise<boolean> {
  // A form below a dialog cannot be pressed.
  const isCovered = (await page.locator('dialog[open]').count()) > 0;
  const submit = page
    .locator(isCovered ? 'dialog[open] form [type=submit]' : 'main form:not([method]) [type=submit]')
    .last();
  if ((await submit.count()) === 0 || !(await submit.isEnabled())) return false;
  const form = submit.locator('xpath=ancestor::form');
  for (const field of await form.locator('input[required], textarea[required]').all()) {
    if ((await field.inputValue()) !== '') continue;
    const type = await field.getAttribute('type');
    await field.fill(
      type === 'number' ? ((await field.getAttribute('min')) ?? '1') : (SAMPLES[type ?? ''] ?? 'Example'),
    );
  }
  await submit.click({ timeout: 5_000 });
  await drawn(page);
  return true;
}

const SAMPLES: Readonly<Record<string, string>> = { url: 'https://example.com', email: 'a@example.com' };

/** Waits for what a press draws at once, and for the answer that fills it. */
async function drawn(page: Page): Promise<void> {
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
  await page.waitForTimeout(150);
}
