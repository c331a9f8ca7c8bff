import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Browser } from 'playwright-core';
import { OWN, ROOT } from '../../bootstrap/layout.mjs';
import type { Command } from '../command.js';
import { platformHome } from '../supervisor/platform-settings.js';
import { addressOf, findPassword } from '../supervisor/running-platform.js';
import { table } from '../table.js';
import { ConsoleVisit, entryAddresses, strayAddresses, type App, type View } from './console-visit.js';
import { inspectPage } from './inspect-page.js';
import { measurePages, type Choice } from './lighthouse.js';
import { lookAround } from './look-around.js';
import { answerWrites } from './sample-answers.js';
import { addSampleRows } from './sample-rows.js';
import { peersFolder, startBrowser } from './start-browser.js';

const VIEWS: readonly View[] = [1280, 390].flatMap((width) =>
  (['light', 'dark'] as const).flatMap((theme) =>
    (['en', 'zh-CN'] as const).map((language) => ({ width, theme, language })),
  ),
);

const OPTIONS = {
  out: { type: 'string' },
  only: { type: 'string' },
  page: { type: 'string' },
  samples: { type: 'boolean' },
  lighthouse: { type: 'boolean' },
  docs: { type: 'boolean' },
} as const;

/**
 * `npm run screens [-- --out FOLDER] [--only TEXT] [--page TEXT] [--samples] | -- --docs`: pictures of every page of the running platform
 * and of the dialogs and forms that its buttons open, wide and narrow, light and dark, in both languages. Says what is wrong
 * with them: wider than the screen, moving while it loads, asking other hosts, not accessible, or still in English. Resolves
 * with 1 if anything is. Nothing is changed on the platform, except that `--samples` adds rows first. `--only` takes the
 * views with this in their name, such as `proxy-390`, `--page` the pages with this in their address. With `--docs`, the tests of the journeys take the pictures of the
 * documentation again; with `--lighthouse`, its scores of every page are printed instead.
 */
export const screensCommand: Command = async (args) => {
  const { values } = parseArgs({ args, options: OPTIONS });
  if (values.docs) return takeDocumentationPictures();
  const out = values.out ?? join(OWN, 'screens');
  const { apps, password } = runningApps();
  const chosen: Choice = { view: values.only ?? '', page: values.page ?? '' };
  if (values.samples) for (const app of apps) await addSampleRows(app, password);
  if (values.lighthouse) return measurePages(apps, password, chosen);
  await using browser = await startBrowser();
  const problems: string[][] = [];
  let count = 0;
  for (const app of apps) {
    for (const view of VIEWS.filter((one) => nameOf(app.name, one).includes(chosen.view))) {
      const folder = join(out, nameOf(app.name, view));
      const seen = await visitAll(browser, app, view, { folder, password, page: chosen.page });
      count += seen.count;
      problems.push(...seen.problems.map((problem) => [nameOf(app.name, view), ...problem]));
      process.stdout.write(`${folder}: ${seen.count} pictures\n`);
      // At once: the other views take long, and one of them may fail.
      for (const [page, problem] of seen.problems) process.stdout.write(`  ${page}: ${problem}\n`);
    }
  }
  process.stdout.write(`\n${count} pictures in ${out}\n`);
  if (problems.length === 0) return 0;
  process.stdout.write(`\n${table([['view', 'page', 'problem'], ...problems])}\n`);
  return 1;
};

/** The apps of the platform that runs in the home of the environment. */
function runningApps(): { apps: App[]; password: string } {
  const home = platformHome(process.env);
  const password = findPassword(process.env, home);
  const apps: App[] = [
    { name: 'proxy', url: addressOf(home, 'proxy-gateway') },
    { name: 'sharing', url: addressOf(home, 'resource-sharing') },
    { name: 'tunnel', url: addressOf(home, 'tunnel-gateway') },
  ];
  return { apps, password };
}

function nameOf(app: App['name'], { width, theme, language }: View): string {
  return `${app}-${width}-${theme}-${language}`;
}

/** They need services and rows of their own, which the tests have; the tests also say when a picture is out of date. */
function takeDocumentationPictures(): number {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const env = { ...process.env, GATEHOUSE_PICTURES: 'write', GATEHOUSE_PEERS_BIN: peersFolder() };
  const { status } = spawnSync(process.execPath, [vitest, 'run', 'test/journeys'], {
    cwd: ROOT,
    env,
    stdio: 'inherit',
  });
  return status ?? 1;
}

interface Visit {
  folder: string;
  password: string;
  /** A part of the addresses to look at. */
  page: string;
}

interface Seen {
  /** Pages, and what their buttons opened. */
  count: number;
  problems: string[][];
}

async function visitAll(browser: Browser, app: App, view: View, { folder, password, page }: Visit): Promise<Seen> {
  mkdirSync(folder, { recursive: true });
  await using visit = await ConsoleVisit.open(browser, app, view);
  const seen: Seen = { count: 0, problems: [] };
  const lookAt = (address: string, prefix = '') =>
    lookAround(visit, address, async (opened, isPage) => {
      const name = prefix + pictureName(address.slice(app.url.length), opened);
      seen.count += 1;
      await visit.page.screenshot({ path: join(folder, `${name}.png`), fullPage: isPage, animations: 'disabled' });
      const found = [...(await inspectPage(visit.page, view.language)), ...visit.problems.splice(0)];
      seen.problems.push(...found.map((problem) => [name, problem]));
    });
  for (const address of entryAddresses(app).filter((one) => one.includes(page))) await lookAt(address, 'entry-');
  await visit.signIn(password);
  await answerWrites(visit.page);
  const addresses = new Map<string, string>();
  for (const address of [...(await visit.addresses('navigation')), ...strayAddresses(app)]) {
    addresses.set(kindOf(address), address);
  }
  // What is added meanwhile is visited, too.
  for (const address of addresses.values()) {
    if (address.includes(page)) await lookAt(address);
    await visit.goTo(address);
    for (const next of await visit.addresses('content')) {
      if (!addresses.has(kindOf(next))) addresses.set(kindOf(next), next);
    }
  }
  return seen;
}

/** Addresses that differ only in which row they are about lead to one kind of page. */
function kindOf(address: string): string {
  const { pathname, search, hash } = new URL(address);
  // A word chooses a view of the page, anything else a row.
  const names = (query: string): string =>
    [...new URLSearchParams(query)]
      .map(([name, value]) => (/^[a-z]+$/.test(value) ? `${name}=${value}` : name))
      .join('&');
  const [page = '', query = ''] = hash.split('?');
  // Ids are numbers, or mixed with some.
  return [pathname.replaceAll(/\/[^/]*\d[^/]*/g, '/*'), names(search), page, names(query)].join(' ');
}

function pictureName(path: string, opened: string): string {
  const name = (text: string): string =>
    text
      .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
      .replaceAll(/^-|-$/g, '')
      .slice(0, 60);
  return `${name(path) || 'home'}${opened && `--${name(opened)}`}`;
}
