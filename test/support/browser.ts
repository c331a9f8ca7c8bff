import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

/** A real Chromium without a screen. It notes everything that no page of ours may do. */
export class TestBrowser implements AsyncDisposable {
  /** Errors of scripts and of the policy, and requests to other hosts; empty in a test that went well. */
  readonly problems: string[] = [];
  readonly #browser: Browser;

  private constructor(browser: Browser) {
    this.#browser = browser;
  }

  static async start(executablePath: string): Promise<TestBrowser> {
    // Without its sandbox, which containers do not grant: only pages of this repository are opened.
    const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'];
    return new TestBrowser(await chromium.launch({ executablePath, args, timeout: 60_000 }));
  }

  /** A page of its own: nothing is shared with others. A refused request (4xx) alone is no problem. */
  async open(url: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await this.#browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(15_000);
    page.on('pageerror', (error) => this.problems.push(`script: ${error.message}`));
    page.on('console', (message) => {
      const text = message.text();
      if (message.type() === 'error' && !/status of 4\d\d/.test(text)) this.problems.push(`console: ${text}`);
    });
    page.on('dialog', (dialog) => {
      this.problems.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('request', (request) => {
      const address = request.url();
      if (!address.startsWith(url) && !/^(data|blob):/.test(address)) this.problems.push(`request: ${address}`);
    });
    await page.goto(url);
    return page;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
  }
}
