import { readFileSync, writeFileSync } from 'node:fs';
import type { Language } from '@gatehouse/i18n';
import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { axeFindings } from '../support/axe.js';
import type { TestBrowser } from '../support/browser.js';
import type { Login } from '../support/console-pages.js';
import { Words, type Program } from './words.js';

/** How a person looks at the pages. */
export interface View {
  readonly width: number;
  readonly colorScheme: 'dark' | 'light';
  readonly language: Language;
}

/** Every width, theme and language; not each with each, which would take eight times as long. */
export const VIEWS: readonly View[] = [
  { width: 1280, colorScheme: 'light', language: 'en' },
  { width: 390, colorScheme: 'dark', language: 'zh-CN' },
];

type Role = 'button' | 'checkbox' | 'link' | 'radio' | 'tab';

/** What a person does on the pages of a program, with the clicks counted and compared with docs/journeys.md. */
export class Journey implements AsyncDisposable {
  clicks = 0;
  /** Texts typed or pasted. */
  fields = 0;
  readonly #words: Words;

  private constructor(
    readonly page: Page,
    readonly view: View,
    private readonly program: Program,
  ) {
    this.#words = new Words(program, view.language);
  }

  static async start(browser: TestBrowser, url: string, program: Program, view: View): Promise<Journey> {
    const { width, colorScheme, language } = view;
    const viewport = { width, height: width < 600 ? 844 : 900 };
    const page = await browser.open(url, { viewport, colorScheme, locale: language });
    return new Journey(page, view, program);
  }

  /** Signed in at the first page, with nothing counted yet. */
  static async signedIn(
    browser: TestBrowser,
    url: string,
    program: Program,
    { view, ...login }: Login & { view: View },
  ): Promise<Journey> {
    const journey = await Journey.start(browser, url, program, view);
    await journey.signIn(login);
    await journey.atFirstPage();
    journey.clicks = journey.fields = 0;
    return journey;
  }

  /** Fills in the sign-in form, and sends it. */
  async signIn({ username, password }: Login): Promise<void> {
    if (this.program === 'sharing') await this.page.goto(new URL('/login', this.page.url()).href);
    if (username !== undefined) await this.fill('Username', username);
    await this.fill(username === undefined ? 'Administrator password' : 'Password', password);
    await this.press('button', 'Sign in');
  }

  /** Waits for the page that follows a sign-in. */
  async atFirstPage(): Promise<void> {
    if (this.program === 'sharing') await this.page.waitForURL(({ pathname }) => pathname === '/');
    else await this.find('heading', 'Dashboard').waitFor();
  }

  /** A label by its English text, in the language of the view. */
  label(english: string, values?: Readonly<Record<string, string>>): RegExp {
    return this.#words.label(english, values);
  }

  find(role: Parameters<Page['getByRole']>[0], english: string, within: Locator | Page = this.page): Locator {
    return within.getByRole(role, { name: this.label(english) });
  }

  async press(role: Role, english: string, within?: Locator): Promise<void> {
    await this.click(this.find(role, english, within));
  }

  /** Clicks what has no fixed label, such as a row. */
  async click(target: Locator): Promise<void> {
    this.clicks += 1;
    await target.click();
  }

  async fill(english: string | RegExp, text: string, within: Locator | Page = this.page): Promise<void> {
    await this.fillAt(this.field(english, within), text);
  }

  /** Fills in a field that shares its label with something else. */
  async fillAt(field: Locator, text: string): Promise<void> {
    this.fields += 1;
    await field.fill(text);
  }

  /** @param option its value */
  async choose(english: string | RegExp, option: string, within: Locator | Page = this.page): Promise<void> {
    this.clicks += 1;
    await this.field(english, within).selectOption(option);
  }

  /** A field by its label; by the exact text, where a label is a name that no catalogue has. */
  field(english: string | RegExp, within: Locator | Page = this.page): Locator {
    return within.getByLabel(typeof english === 'string' ? this.label(english) : english);
  }

  /** Waits until a text of the program is to be seen. */
  async see(english: string, within: Locator | Page = this.page): Promise<void> {
    const { source } = this.label(english);
    await within
      .getByText(new RegExp(source.replace(/^\^/, '').replace(/\$$/, '')))
      .first()
      .waitFor();
  }

  /** Goes to a page by the navigation, which phones open first. */
  async goTo(english: string, navigation: 'Pages' | 'Site' = 'Pages'): Promise<void> {
    const menu = this.page.locator('.menu-button');
    if (await menu.isVisible()) await this.click(menu);
    const links = this.find('navigation', navigation);
    await this.press('link', english, links);
    await links.locator('[aria-current]', { hasText: this.label(english) }).waitFor({ state: 'attached' });
    await this.page.locator('h1').waitFor();
  }

  /**
   * Keeps what the documentation shows of this page up to date. In the first view, the labels of the page must be those of
   * the picture in docs/pictures; with GATEHOUSE_PICTURES=write the picture is taken again instead.
   */
  async picture(name: string): Promise<void> {
    if (this.view !== VIEWS[0]) return;
    const labels = await this.page.evaluate<string[]>(
      "[...document.querySelectorAll('h1, h2, th, label, legend, nav a')].map((one) => one.innerText.trim()).filter((text) => text !== '')",
    );
    const file = new URL(`../../docs/pictures/${name}`, import.meta.url);
    // What a row or a group is called is no label.
    const texts = [...new Set(labels.filter((text) => this.#words.has(text)))].toSorted();
    if (process.env['GATEHOUSE_PICTURES'] === 'write') {
      writeFileSync(`${file.pathname}.json`, `${JSON.stringify(texts, undefined, 2)}\n`);
      await this.page.mouse.move(0, 0);
      await this.page.evaluate('scrollTo(0, 0)');
      await this.page.screenshot({ path: `${file.pathname}.png`, animations: 'disabled' });
    } else {
      const known = JSON.parse(readFileSync(`${file.pathname}.json`, 'utf8')) as string[];
      expect(texts, `docs/pictures/${name}.png is out of date: npm run screens -- --docs`).toEqual(known);
    }
  }

  /** The page that the journey ends at fits the screen and is accessible, and it took the clicks that the documentation names. */
  async end(name: string): Promise<void> {
    const excess = await this.page.evaluate('document.documentElement.scrollWidth - innerWidth');
    expect(excess, 'wider than the screen').toBeLessThanOrEqual(0);
    const headers = await this.page.evaluate<number[]>(
      "[...document.querySelectorAll('header.side, header.top')].filter(() => innerWidth < 600).map((one) => one.offsetHeight)",
    );
    expect(Math.max(0, ...headers), 'height of the header').toBeLessThanOrEqual(64);
    expect(await axeFindings(this.page)).toEqual([]);
    const [clicks, phoneClicks, fields] = documented(name);
    expect({ name, clicks: this.clicks, fields: this.fields }).toEqual({
      name,
      clicks: this.view.width < 600 ? phoneClicks : clicks,
      fields,
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.page.context().close();
  }
}

/** The row of a journey in docs/journeys.md: clicks, clicks on a phone, fields. */
function documented(name: string): [clicks: number, phoneClicks: number, fields: number] {
  const page = readFileSync(new URL('../../docs/journeys.md', import.meta.url), 'utf8');
  for (const line of page.split('\n')) {
    const cells = line.split('|').map((cell) => cell.trim());
    if (cells[2] === name) return [Number(cells[3]), Number(cells[4]), Number(cells[5])];
  }
  throw new Error(`docs/journeys.md has no row "${name}"`);
}
