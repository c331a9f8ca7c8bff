import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { PlainFailure } from '../../bootstrap/failure.mjs';
import { ROOT } from '../../bootstrap/layout.mjs';
import type { Command } from '../command.js';
import { buildSite } from './build-site.js';
import { npmArchive, pipArchive } from './client-archive.js';
import { languageOf } from './contents.js';
import type { HelpAssets } from './layout.js';

const CONSOLE = join(ROOT, 'apps/console/dist/site');
/** What the services serve at `/help/`. */
const HELP = join(ROOT, 'apps/console/dist/help');

/**
 * `npm run docs [-- --out FOLDER]`: renders README, CONTRIBUTING and `docs/` to the pages that the services show at `/help/`.
 * With `--out`, into a folder that any web server can publish: `FOLDER/help/`, and `FOLDER/assets/` beside it.
 */
export const docsCommand: Command = async (args) => {
  const { values } = parseArgs({ args, options: { out: { type: 'string' } } });
  const out = values.out === undefined ? HELP : join(resolve(values.out), 'help');
  const assets = readAssets();
  const archives = { 'sharing-client.tgz': npmArchive(ROOT), 'sharing-client-python.tar.gz': pipArchive(ROOT) };
  const pages = buildSite(ROOT, out, assets);
  mkdirSync(join(out, 'clients'));
  for (const [name, archive] of Object.entries(archives)) writeFileSync(join(out, 'clients', name), archive);
  if (values.out !== undefined) {
    for (const file of [assets.script, ...assets.styles, assets.icon, ...assets.others])
      cpSync(join(CONSOLE, file), join(resolve(values.out), file));
  }
  const chinese = [...pages.keys()].filter((path) => languageOf(path) === 'zh-CN').length;
  process.stdout.write(`${pages.size} pages in ${out}: ${pages.size - chinese} in English, ${chinese} in Chinese\n`);
  return 0;
};

interface ManifestEntry {
  readonly file: string;
  readonly css?: readonly string[];
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
}

/** Finds the files of the pages in what Vite built. */
function readAssets(): HelpAssets & { readonly others: readonly string[] } {
  let manifest: Readonly<Record<string, ManifestEntry | undefined>>;
  try {
    manifest = JSON.parse(readFileSync(join(CONSOLE, '.vite/manifest.json'), 'utf8'));
  } catch (cause) {
    throw new PlainFailure('the script of the pages was not built.', {
      advice: ['Build it with: npm run build'],
      cause,
    });
  }
  const seen = new Map<string, ManifestEntry>();
  const follow = (name: string) => {
    const entry = manifest[name];
    if (entry === undefined || seen.has(name)) return;
    seen.set(name, entry);
    for (const next of [...(entry.imports ?? []), ...(entry.dynamicImports ?? [])]) follow(next);
  };
  follow('src/help/main.ts');
  const script = manifest['src/help/main.ts']?.file;
  const icon = manifest['src/shared/icon.svg']?.file;
  if (script === undefined || icon === undefined) {
    throw new PlainFailure('the build of the console has no script for the documentation.', {
      advice: ['Build it again with: npm run build'],
    });
  }
  const styles = [...new Set([...seen.values()].flatMap(({ css = [] }) => css))];
  const others = [...seen.values()].map(({ file }) => file).filter((file) => file !== script);
  return { script, styles, icon, others };
}
