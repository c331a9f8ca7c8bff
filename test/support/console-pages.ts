import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { TestBrowser } from './browser.js';

export interface Login {
  password: string;
  /** Of the tunnel console; the proxy console has only its administrator. */
  username?: string;
}

/** Goes to a page of a console by its navigation. */
export async function goTo(page: Page, name: string): Promise<void> {
  await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click();
  await page.getByRole('heading', { name, level: 1 }).waitFor();
}

/** Fills in the sign-in form of a console, and sends it. */
export async function fillLogin(page: Page, { username, password }: Login): Promise<void> {
  if (username !== undefined) await page.getByLabel('Username').fill(username);
  const label = username === undefined ? 'Administrator password' : 'Password';
  await page.getByLabel(label, { exact: true }).fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** A page of its own, signed in at the dashboard. */
export async function signedInAt(
  browser: TestBrowser,
  url: string,
  login: Login,
  options: Parameters<TestBrowser['open']>[1] = {},
): Promise<Page> {
  const page = await browser.open(url, options);
  await fillLogin(page, login);
  await page.getByRole('heading', { name: 'Dashboard', level: 1 }).waitFor();
  return page;
}

/** What a dialog shows once; answers that it was kept. */
export async function keepSecret(page: Page, title: string): Promise<string> {
  const dialog = page.getByRole('dialog', { name: title });
  const secret = await dialog.locator('.secret code').innerText();
  await dialog.getByRole('button', { name: 'I have saved it' }).click();
  await dialog.waitFor({ state: 'detached' });
  return secret;
}

/**
 * Opens each page of the navigation, except `forms`, and more views of them, while no question is answered, and waits until
 * it says that it is loading.
 */
export async function expectLoading(page: Page, { forms, views }: { forms: string[]; views: string[] }): Promise<void> {
  const links = await page.locator('nav a').evaluateAll((all) => all.map((link) => link.getAttribute('href')!));
  // The page that is open has its answers: it comes last.
  const pages = links.filter((hash) => !forms.includes(hash)).reverse();
  // Neither answered nor refused until the page is closed.
  await page.route('**/api/v1/**', () => undefined);
  for (const hash of [...views, ...pages]) {
    await page.evaluate((address) => (location.hash = address), hash);
    await expect
      .poll(() => page.locator('main .waiting').count(), { message: hash, timeout: 10_000 })
      .toBeGreaterThan(0);
  }
}

/** Words of what a page shows that are names of the wire, of products or of units, in any language. */
const NAMES =
  /\b(?:ACME|API|ASN|ASCII|CLASH|CPU|DIRECT|DNS|English|Fake|Gatehouse|Geo(?:IP|Site)?|HTTP|Hosts|ID|IP|KiB|MiB|GiB|LAN|Node|PROXY|PostgreSQL|REJECT|SOCKS|TCP|TLS|TXT|UDP|Webhook|URL|User-Agent|UTC|address|auto|country|default|embedded|false|fallback|global|iB|load-balance|mixed|rule|select|true|url-test)\b/g;

/** Labels and headings that are still in English: three words of Latin letters in a row are no name. `names`: of the test's own rows. */
export async function englishIn(page: Page, names: readonly string[] = []): Promise<string[]> {
  const texts = await page.locator('h1, h2, h3, label, th, button, legend, dt, option, .hint, .muted').allInnerTexts();
  const sentence = /[A-Za-z]{2,}(?: [A-Za-z]{2,}){2,}/;
  return texts.filter((text) => !names.includes(text) && sentence.test(text.replaceAll(NAMES, '·')));
}

/** Labels, choices and badges that are names of the API, such as `client.online`; what is marked as code is meant to be. */
export async function apiNamesIn(page: Page): Promise<string[]> {
  const words = page.locator('h1, h2, h3, label, th, button, legend, dt, option, .badge');
  const texts = await words.filter({ hasNot: page.locator('code') }).allInnerTexts();
  return texts.filter((text) => /^[a-z]+(?:[._:][a-z]+)+$/.test(text.trim()));
}
