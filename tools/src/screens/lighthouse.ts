import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { freePort } from '@gatehouse/net';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { table } from '../table.js';
import { ConsoleVisit, type App } from './console-visit.js';
import { PEERS, startBrowser } from './start-browser.js';

const CATEGORIES = ['performance', 'accessibility', 'best-practices', 'seo'] as const;
const DEVICES = ['desktop', 'phone'] as const;
/** Of a hundred, in each category. */
const LEAST = 95;
/** A busy machine measures too little now and then, and never too much: the best of so many counts. */
const ATTEMPTS = 3;
/** Lighthouse waits until nothing is loading, for 45 s if it may, and a console's stream of events never ends. */
const LONGEST_LOAD_MS = 10_000;

type Device = (typeof DEVICES)[number];

/** What is used of the packages; they are no dependencies, so their types are not there. */
interface Report {
  lhr: {
    lighthouseVersion: string;
    runtimeError?: { message: string };
    categories: Record<string, { score: number | null }>;
    audits: Record<string, { title: string; score: number | null; scoreDisplayMode: string }>;
  };
}
interface Tools {
  lighthouse: (url: string, flags: object, config: object | undefined, page: object) => Promise<Report | undefined>;
  desktop: object;
  connect: (options: { browserURL: string; defaultViewport: null }) => Promise<PuppeteerBrowser>;
}
interface PuppeteerBrowser {
  pages: () => Promise<{ url: () => string }[]>;
  disconnect: () => Promise<void>;
}

/** What to look at: parts of the names of views and of the addresses of pages; empty: all. */
export interface Choice {
  readonly view: string;
  readonly page: string;
}

/**
 * `npm run screens -- --lighthouse`: the scores of every page that the navigations name, signed in, on a desktop and on a
 * phone. Resolves with 1 if one is below 95.
 */
export async function measurePages(apps: readonly App[], password: string, chosen: Choice): Promise<number> {
  const tools = await loadTools();
  const port = await freePort();
  await using browser = await startBrowser(port);
  const rows: string[][] = [];
  let isGood = true;
  for (const app of apps) {
    for (const device of DEVICES.filter((one) => `${app.name}-${one}`.includes(chosen.view))) {
      const view = { width: device === 'phone' ? 390 : 1280, theme: 'light', language: 'en' } as const;
      await using visit = await ConsoleVisit.open(browser, app, view);
      await visit.signIn(password);
      for (const address of await visit.addresses('navigation')) {
        if (!address.includes(chosen.page)) continue;
        await visit.goTo(address);
        // Some lead on to another page.
        const scores = await bestScores(tools, { port, address: visit.page.url(), device });
        isGood &&= scores.values.every((score) => score >= LEAST);
        rows.push([app.name, device, address.slice(app.url.length), ...scores.values.map(String), scores.missed]);
        process.stdout.write(`${rows.at(-1)?.join('  ') ?? ''}\n`);
      }
    }
  }
  process.stdout.write(`\n${table([['app', 'device', 'page', ...CATEGORIES, 'missed'], ...rows])}\n`);
  return isGood ? 0 : 1;
}

interface Measured {
  port: number;
  address: string;
  device: Device;
}

/** Of several attempts, the one with the best worst category; `missed`: what a score below 100 comes from. */
async function bestScores(tools: Tools, measured: Measured): Promise<{ values: number[]; missed: string }> {
  let best = { values: CATEGORIES.map(() => 0), missed: '' };
  for (let attempt = 0; attempt < ATTEMPTS && Math.min(...best.values) < LEAST; attempt++) {
    const { lhr } = await measure(tools, measured);
    if (lhr.runtimeError !== undefined) {
      best.missed ||= lhr.runtimeError.message;
      continue;
    }
    const values = CATEGORIES.map((name) => Math.round((lhr.categories[name]?.score ?? 0) * 100));
    const failed = Object.entries(lhr.audits).filter(
      ([, { score, scoreDisplayMode }]) => scoreDisplayMode === 'binary' && score === 0,
    );
    const now = { values, missed: Math.min(...values) < 100 ? failed.map(([id]) => id).join(' ') : '' };
    if (Math.min(...values) > Math.min(...best.values)) best = now;
  }
  return best;
}

async function measure(tools: Tools, { port, address, device }: Measured): Promise<Report> {
  const browser = await tools.connect({ browserURL: `http://127.0.0.1:${port}`, defaultViewport: null });
  try {
    const page = (await browser.pages()).find((one) => one.url() === address);
    if (page === undefined) throw new Error(`no page is open at ${address}`);
    const flags = {
      port,
      // The login of a console is in the storage of its page.
      disableStorageReset: true,
      onlyCategories: CATEGORIES,
      logLevel: 'error',
      maxWaitForLoad: LONGEST_LOAD_MS,
    };
    const report = await tools.lighthouse(address, flags, device === 'desktop' ? tools.desktop : undefined, page);
    if (report === undefined) throw new Error(`Lighthouse has no report of ${address}`);
    return report;
  } finally {
    await browser.disconnect();
  }
}

/** @throws PlainFailure where `npm run peers -- --lighthouse` was not run. */
async function loadTools(): Promise<Tools> {
  const modules = join(PEERS, 'lighthouse', 'node_modules');
  if (!existsSync(join(modules, 'lighthouse'))) {
    throw new PlainFailure('Lighthouse is not there.', { advice: ['Bring it with: npm run peers -- --lighthouse'] });
  }
  const load = async (path: string): Promise<unknown> => import(pathToFileURL(join(modules, path)).href);
  const { default: lighthouse } = (await load('lighthouse/core/index.js')) as { default: Tools['lighthouse'] };
  const { default: desktop } = (await load('lighthouse/core/config/desktop-config.js')) as { default: object };
  const { default: puppeteer } = (await load('puppeteer-core/lib/puppeteer/puppeteer-core.js')) as {
    default: Pick<Tools, 'connect'>;
  };
  return { lighthouse, desktop, connect: (options) => puppeteer.connect(options) };
}
