import { waitFor } from '@gatehouse/testing';
import { chromium, type Browser, type BrowserContextOptions, type Page, type Request } from 'playwright-core';

/** Requests of each page that are not answered yet. */
const waiting = new WeakMap<Page, Set<Request>>();

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
    page.setDefaultTimeout(30_000);
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
    watchRequests(page);
    await page.goto(url);
    return page;
  }

  /** Ends all pages: one that stays open goes on asking its service, and takes time from the tests after it. */
  async closePages(): Promise<void> {
    await Promise.all(this.#browser.contexts().map((context) => context.close()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
  }
}

function watchRequests(page: Page): void {
  const open = new Set<Request>();
  waiting.set(page, open);
  page.on('request', (request) => {
    // A stream stays open for as long as the page does.
    if (request.headers()['accept'] !== 'text/event-stream') open.add(request);
  });
  page.on('requestfinished', (request) => open.delete(request));
  page.on('requestfailed', (request) => open.delete(request));
}

/** Waits until a page that has just been shown has its answers and has drawn them. */
export async function untilDrawn(page: Page): Promise<void> {
  const open = waiting.get(page) ?? new Set();
  // A page asks after it was first drawn.
  await nextFrames(page);
  await waitFor(() => open.size === 0);
  await nextFrames(page);
}

async function nextFrames(page: Page): Promise<void> {
  await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
}
