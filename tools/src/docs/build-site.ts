import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { LANGUAGES, type Language } from '@gatehouse/i18n';
import { addressOf, CHAPTERS, languageOf } from './contents.js';
import { documentOf, inLanguage, type HelpAssets, type Pages } from './layout.js';
import { fileAddress, renderPage, type RenderedPage, type Sources } from './markdown.js';

const ROOT_PAGES = ['README.md', 'README.zh-CN.md', 'CONTRIBUTING.md', 'CONTRIBUTING.zh-CN.md', 'CHANGELOG.md'];
/** Sets the chosen theme before the page is painted; a module would come too late. */
const THEME_SCRIPT = `document.documentElement.dataset.theme = /(?:^|; )gatehouse_theme=(light|dark)/.exec(document.cookie)?.[1] ?? 'system';
`;

/**
 * Renders the documentation of a repository into a folder of static files, which is replaced as a whole.
 *
 * @param root the repository
 * @param out `/help/` of a service: pages load the files in `assets` beside it
 * @returns the pages that were written, by the files they come from
 * @throws Error if a page shows a picture that does not exist, or the navigation lists a page that does not
 */
export function buildSite(root: string, out: string, assets: HelpAssets): Pages {
  const files = new Map<string, Buffer>();
  const sources = sourcesIn(root, files);
  const pages: Pages = new Map(
    pagesIn(root).map((path) => [path, renderPage(path, readFileSync(join(root, path), 'utf8'), sources)]),
  );
  const missing = CHAPTERS.flatMap((chapter) => chapter.pages).filter((path) => !pages.has(path));
  if (missing.length > 0) throw new Error(`the navigation lists pages that do not exist: ${missing.join(', ')}`);

  const fresh = `${out}.new`;
  rmSync(fresh, { recursive: true, force: true });
  const write = (address: string, content: string | Buffer) => {
    mkdirSync(dirname(join(fresh, address)), { recursive: true });
    writeFileSync(join(fresh, address), content);
  };
  for (const path of pages.keys()) write(addressOf(path), documentOf(path, pages, assets));
  for (const [path, content] of files) write(fileAddress(path), content);
  for (const language of LANGUAGES) write(`search.${language}.json`, JSON.stringify(searchEntries(language, pages)));
  write('theme.js', THEME_SCRIPT);
  rmSync(out, { recursive: true, force: true });
  renameSync(fresh, out);
  return pages;
}

function pagesIn(root: string): string[] {
  const inDocs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' });
  return [
    ...ROOT_PAGES.filter((name) => existsSync(join(root, name))),
    ...inDocs
      .filter((name) => name.endsWith('.md') && !name.endsWith('template.md'))
      .map((name) => `docs/${name.replaceAll('\\', '/')}`)
      .toSorted(),
  ];
}

/** @param files collects what pages show and link to */
function sourcesIn(root: string, files: Map<string, Buffer>): Sources {
  const pages = new Set(pagesIn(root));
  return {
    isPage: (path) => pages.has(path),
    file: (path) => {
      // Only what is documentation itself: no source file, nothing outside the repository.
      if (!path.startsWith('docs/') || !/\.\w+$/.test(path) || path.endsWith('.md')) return undefined;
      if (!existsSync(join(root, path))) return undefined;
      const content = files.get(path) ?? readFileSync(join(root, path));
      files.set(path, content);
      return content;
    },
  };
}

/** What the search looks through: page, its heading and the text below. Short keys, as there are many. */
interface SearchEntry {
  /** Address below `/help/`, with the anchor. */
  readonly u: string;
  /** Title of the page. */
  readonly t: string;
  readonly h: string;
  readonly x: string;
}

function searchEntries(language: Language, pages: Pages): SearchEntry[] {
  return [...pages]
    .filter(([path]) => inLanguage(path, language, pages) === path)
    .flatMap(([path, page]) => entriesOf(path, page));
}

function entriesOf(path: string, { title, sections }: RenderedPage): SearchEntry[] {
  // Decisions are found by their titles: their texts would be most of the index.
  const isRecord = /^docs\/(?:decisions|benchmarks)\//.test(path) && languageOf(path) === 'en';
  return sections.slice(0, isRecord ? 1 : undefined).map(({ heading, text }) => ({
    u: heading.level === 1 ? addressOf(path) : `${addressOf(path)}#${encodeURIComponent(heading.anchor)}`,
    t: title,
    h: heading.text,
    x: isRecord ? '' : text,
  }));
}
