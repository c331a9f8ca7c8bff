import type { ConsoleVisit } from './console-visit.js';
import { buttonKeys, openState, pressButton, sendForm } from './page-buttons.js';

/** Something to look at: a page, or what a button of it opened. */
export type Look = (name: string, isPage: boolean) => Promise<void>;

/** How many forms follow each other: a second factor asks for the password, then for a code, then shows its codes. */
const FORMS_IN_A_ROW = 3;
/** Of a page with its dialogs. More is a page that never ends. */
const MOST_PRESSES = 80;

/** Opens a page, and everything that its buttons open, with what their own buttons open. */
export async function lookAround(visit: ConsoleVisit, address: string, look: Look): Promise<void> {
  await visit.goTo(address);
  await look('', true);
  const rest = { presses: MOST_PRESSES, seen: new Set([(await openState(visit.page)).state]) };
  for (const key of await buttonKeys(visit.page)) await lookBehind(visit, { address, keys: [key], look, rest });
}

interface Door {
  address: string;
  /** Of the buttons that lead there, one after the other. */
  keys: readonly string[];
  look: Look;
  rest: { presses: number; seen: Set<string> };
}

/** The page is as it was opened; afterwards, too. */
async function lookBehind(visit: ConsoleVisit, door: Door): Promise<void> {
  const { address, keys, look, rest } = door;
  if (--rest.presses < 0) return;
  const before = await openState(visit.page);
  let last = before;
  for (const key of keys) {
    last = await openState(visit.page);
    if (!(await pressed(visit, key))) return;
  }
  const opened = await openState(visit.page);
  const isNew = opened.state !== last.state && !rest.seen.has(opened.state) && visit.page.url() === address;
  if (isNew) {
    rest.seen.add(opened.state);
    await visit.settle();
    await look(nameOf(keys, opened.title), false);
    const inner = keys.length < 2 && opened.title !== '' ? await buttonKeys(visit.page) : [];
    await sendForms(visit, keys, look, rest.seen);
    await visit.goTo(address);
    for (const key of inner) await lookBehind(visit, { ...door, keys: [...keys, key] });
  } else if (opened.state !== before.state || keys.length > 1) {
    await visit.goTo(address);
  }
}

async function sendForms(visit: ConsoleVisit, keys: readonly string[], look: Look, seen: Set<string>): Promise<void> {
  for (let count = 1; count <= FORMS_IN_A_ROW; count++) {
    const before = await openState(visit.page);
    if (!(await sendForm(visit.page))) return;
    await visit.settle();
    const { state, title } = await openState(visit.page);
    if (state === before.state || seen.has(state)) return;
    seen.add(state);
    await look(`${nameOf(keys, title)}-${count}`, false);
  }
}

/** False, with a problem noted, where a button is there and cannot be pressed. */
async function pressed(visit: ConsoleVisit, key: string): Promise<boolean> {
  try {
    return await pressButton(visit.page, key);
  } catch (error) {
    visit.problems.push(`"${textOf(key)}" cannot be pressed: ${String(error).split('\n')[0] ?? ''}`);
    await visit.goTo(visit.page.url());
    return false;
  }
}

function nameOf(keys: readonly string[], title: string): string {
  return title || textOf(keys.at(-1) ?? '');
}

function textOf(key: string): string {
  return key.split('|').at(-1) ?? '';
}
