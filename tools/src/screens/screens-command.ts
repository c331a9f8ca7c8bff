import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium, type Browser } from 'playwright-core';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { OWN, ROOT } from '../../bootstrap/layout.mjs';
import type { Command } from '../command.js';
import { platformHome } from '../supervisor/platform-settings.js';
import { addressOf, findPassword } from '../supervisor/running-platform.js';
import { table } from '../table.js';
import { ConsoleVisit, type App, type View } from './console-visit.js';
import { inspectPage } from './inspect-page.js';

const VIEWS: readonly View[] = [1280, 390].flatMap((width) =>
  (['light', 'dark'] as const).flatMap((theme) =>
    (['en', 'zh-CN'] as const).map((language) => ({ width, theme, language })),
  ),
);

/**
 * `npm run screens [-- --out FOLDER | --docs]`: pictures of every page of the running platform, wide and narrow, light and dark, in
 * both languages. Says what is wrong with a page: wider than the screen, moving while it loads, asking other hosts, or not
 * accessible. Resolves with 1 if anything is. With `--docs`, the tests of the journeys take the pictures of the documentation again.
 */
export const screensCommand: Command = async (args) => {
  const { values } = parseArgs({ args, options: { out: { type: 'string' }, docs: { type: 'boolean' } } });
  if (values.docs) return takeDocumentationPictures();
  const out = values.out ?? join(OWN, 'screens');
  const home = platformHome(process.env);
  const password = findPassword(process.env, home);
  const apps: App[] = [
    { name: 'proxy', url: addressOf(home, 'proxy-gateway') },
    { name: 'sharing', url: addressOf(home, 'resource-sharing') },
    { name: 'tunnel', url: addressOf(home, 'tunnel-gateway') },
  ];
  const browser = await startBrowser();
  const problems: string[][] = [];
  let count = 0;
  try {
    for (const app of apps) {
      for (const view of VIEWS) {
        const folder = join(out, nameOf(app.name, view));
        const seen = await visitAll(browser, app, view, { folder, password });
        count += seen.pages;
        problems.push(...seen.problems.map((problem) => [folder.slice(out.length + 1), ...problem]));
        process.stdout.write(`${folder}: ${seen.pages} pages\n`);
      }
    }
  } finally {
    await browser.close();
  }
  process.stdout.write(`\n${count} pictures in ${out}\n`);
  if (problems.length === 0) return 0;
  process.stdout.write(`\n${table([['view', 'page', 'problem'], ...problems])}\n`);
  return 1;
};

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

function peersFolder(): string {
  return process.env['GATEHOUSE_PEERS_BIN'] || join(OWN, 'peers', 'bin');
}

interface Visit {
  folder: string;
  password: string;
}

async function visitAll(
  browser: Browser,
  app: App,
  view: View,
  { folder, password }: Visit,
): Promise<{ pages: number; problems: string[][] }> {
  mkdirSync(folder, { recursive: true });
  await using visit = await ConsoleVisit.open(browser, app, view);
  await visit.signIn(password);
  const addresses = await visit.addresses();
  const problems: string[][] = [];
  for (const address of addresses) {
    await visit.goTo(address);
    const name = address.slice(app.url.length).replace(/^\/(#\/)?/, '') || 'home';
    await visit.page.screenshot({ path: join(folder, `${name.replaceAll(/\W+/g, '-')}.png`), fullPage: true });
    const found = [...(await inspectPage(visit.page)), ...visit.problems.splice(0)];
    problems.push(...found.map((problem) => [name, problem]));
  }
  return { pages: addresses.length, problems };
}

async function startBrowser(): Promise<Browser> {
  const executablePath = join(peersFolder(), 'chromium');
  try {
    // Without its sandbox, which containers do not grant: only pages of this platform are opened.
    return await chromium.launch({
      executablePath,
      args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
    });
  } catch (cause) {
    throw new PlainFailure('Chromium could not be started.', { advice: ['Bring it with: npm run peers'], cause });
  }
}
