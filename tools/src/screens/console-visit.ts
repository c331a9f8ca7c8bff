import type { Browser, BrowserContext, Page } from 'playwright-core';

/** How pages are looked at. */
export interface View {
  readonly width: number;
  readonly theme: 'dark' | 'light';
  readonly language: 'en' | 'zh-CN';
}

export interface App {
  readonly name: 'proxy' | 'sharing' | 'tunnel';
  readonly url: string;
}

/** Documents that are no pages of the consoles, and files. */
const OTHERS = /\/docs(?:[/#?]|$)|\/help(?:[/#?]|$)|\.\w{1,5}(?:[#?]|$)/;

/** Where an app asks who its reader is. */
function signInPath({ name }: App): string {
  return name === 'sharing' ? '/login' : '/';
}

/** Pages for those who are not signed in, and for those who went astray. */
export function entryAddresses(app: App): string[] {
  const paths = [signInPath(app), '/no-such-page', ...(app.name === 'sharing' ? ['/', '/register', '/titles'] : [])];
  return paths.map((path) => app.url + path);
}

/** Pages that no link leads to. */
export function strayAddresses({ name, url }: App): string[] {
  return name === 'sharing' ? [`${url}/titles/movie/0`, `${url}/shares/none`] : [`${url}/#/no-such-page`];
}

/** An app in one view: its pages, signed in as the administrator. */
export class ConsoleVisit implements AsyncDisposable {
  /** Errors of scripts, and requests to other hosts. */
  readonly problems: string[] = [];
  readonly page: Page;
  readonly #context: BrowserContext;
  readonly #app: App;
  /** Whether addresses are of pages, which was asked once. */
  readonly #pages = new Map<string, boolean>();

  private constructor(context: BrowserContext, page: Page, app: App) {
    this.#context = context;
    this.page = page;
    this.#app = app;
    page.on('pageerror', (error) => this.problems.push(`script: ${error.message}`));
    page.on('request', (request) => {
      const address = request.url();
      if (/^https?:/.test(address) && new URL(address).origin !== new URL(app.url).origin)
        this.problems.push(`asks ${address}`);
    });
  }

  static async open(browser: Browser, app: App, { width, theme, language }: View): Promise<ConsoleVisit> {
    const context = await browser.newContext({
      viewport: { width, height: width < 600 ? 844 : 900 },
      colorScheme: theme,
      locale: language,
      // A colour on its way to another would be measured in between.
      reducedMotion: 'reduce',
    });
    return new ConsoleVisit(context, await context.newPage(), app);
  }

  /** Opens the sign-in page, fills it in, and waits until the navigation is there. */
  async signIn(password: string): Promise<void> {
    const { page } = this;
    await page.goto(`${this.#app.url}${signInPath(this.#app)}`);
    const secret = page.locator('input[type=password]').first();
    await secret.waitFor();
    const name = page.locator('input[autocomplete=username]:not([readonly])');
    if ((await name.count()) > 0) await name.first().fill('admin');
    await secret.fill(password);
    await secret.press('Enter');
    await page.locator('.side nav a, nav.side a, .side a').first().waitFor({ state: 'attached' });
  }

  /** Addresses that the page leads to: with `navigation` those of the navigation, else those of its content. */
  async addresses(part: 'content' | 'navigation'): Promise<string[]> {
    const selector = part === 'navigation' ? '.side a:not(.menu-button)' : 'main a[href]:not([download])';
    const found = await this.page.evaluate<string[]>(
      `[...document.querySelectorAll(${JSON.stringify(selector)})].map((link) => link.href)`,
    );
    const own = [...new Set(found)].filter((one) => one.startsWith(`${this.#app.url}/`) && !OTHERS.test(one));
    const pages: string[] = [];
    for (const address of own) if (await this.#isPage(address)) pages.push(address);
    return pages;
  }

  /** Not a file to download or a document for programs. */
  async #isPage(address: string): Promise<boolean> {
    const [document = ''] = address.split('#');
    let isPage = this.#pages.get(document);
    if (isPage === undefined) {
      const answer = await this.page.request.get(document);
      isPage = answer.headers()['content-type']?.startsWith('text/html') ?? false;
      this.#pages.set(document, isPage);
    }
    return isPage;
  }

  /** Loads a page and waits until it has settled. */
  async goTo(address: string): Promise<void> {
    // A page with another hash would not be loaded again.
    await this.page.goto('about:blank');
    await this.page.goto(address);
    await this.page.locator('h1').first().waitFor();
    await this.page.waitForLoadState('load');
    await this.settle();
  }

  /** What a page asks the service comes within that; a console that follows events never falls silent. */
  async settle(): Promise<void> {
    await this.page.waitForTimeout(600);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#context.close();
  }
}
