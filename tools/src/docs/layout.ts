import { LANGUAGES, LANGUAGE_NAMES, type Language } from '@gatehouse/i18n';
import { addressOf, CHAPTERS, languageOf, translationOf } from './contents.js';
import { relativeAddress, type RenderedPage } from './markdown.js';
import { TEXTS } from './texts.js';

/** Files of the console's build that the pages load: addresses below the service's root, such as `assets/help-HASH.js`. */
export interface HelpAssets {
  readonly script: string;
  readonly styles: readonly string[];
  readonly icon: string;
}

/** Pages by their files; what is in no chapter is here, too. */
export type Pages = ReadonlyMap<string, RenderedPage>;

/** The HTML document of a page: navigation, text, the headings of the page, the page before and the one after. */
export function documentOf(path: string, pages: Pages, assets: HelpAssets): string {
  const page = pages.get(path)!;
  const language = languageOf(path);
  const texts = TEXTS[language];
  const asset = (file: string) => escape(relativeAddress(path, `../${file}`));
  return `<!doctype html>
<html lang="${language}" data-theme="system">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escape(summaryOf(page))}">
<title>${escape(page.title === 'Gatehouse' ? `Gatehouse · ${texts.site}` : `${page.title} · Gatehouse`)}</title>
<link rel="icon" href="${asset(assets.icon)}">
${assets.styles.map((style) => `<link rel="stylesheet" href="${asset(style)}">`).join('\n')}
<script src="${relativeAddress(path, 'theme.js')}"></script>
<script type="module" src="${asset(assets.script)}"></script>
</head>
<body data-search="${relativeAddress(path, `search.${language}.json`)}" data-root="${rootOf(path)}">
<a class="skip" href="#content">${texts.skip}</a>
${headerOf(path, pages, asset(assets.icon))}
<div class="help">
<nav class="pages" id="pages" aria-label="${texts.contents}">
${chaptersOf(path, pages)}
</nav>
<main id="content" tabindex="-1" data-copy="${texts.copy}" data-copied="${texts.copied}">
<article>
${page.html}</article>
${neighboursOf(path, pages)}
</main>
${outlineOf(page, language)}
</div>
</body>
</html>
`;
}

/** From a page up to `/help/`. */
function rootOf(path: string): string {
  return '../'.repeat(addressOf(path).split('/').length - 1) || './';
}

function headerOf(path: string, pages: Pages, icon: string): string {
  const language = languageOf(path);
  const texts = TEXTS[language];
  const start = language === 'en' ? 'README.md' : 'README.zh-CN.md';
  const themes = Object.entries(texts.themes).map(([name, label]) => `<option value="${name}">${label}</option>`);
  const languages = LANGUAGES.map((one) => {
    const target = relativeAddress(path, addressOf(inLanguage(path, one, pages)));
    return `<option value="${one}" lang="${one}" data-href="${target}"${one === language ? ' selected' : ''}>${LANGUAGE_NAMES[one]}</option>`;
  });
  return `<header class="top">
<button type="button" class="menu-button" aria-expanded="false" aria-controls="pages">${texts.menu}</button>
<a class="brand" href="${relativeAddress(path, addressOf(start))}"><img src="${icon}" width="30" height="30" alt=""><span>Gatehouse <small>${texts.site}</small></span></a>
<div class="search" role="search">
<input type="search" placeholder="${texts.search}" aria-label="${texts.search}" autocomplete="off" spellcheck="false" data-none="${texts.noResults}" data-failed="${texts.searchFailed}">
<ol class="results" hidden></ol>
</div>
<nav class="ways" aria-label="Gatehouse"><a href="${relativeAddress(path, '../')}">${texts.back}</a>
<a href="${relativeAddress(path, '../docs')}">${texts.apiReference}</a></nav>
<select name="language" aria-label="${texts.language}">${languages.join('')}</select>
<select name="theme" aria-label="${texts.theme}">${themes.join('')}</select>
</header>`;
}

function chaptersOf(path: string, pages: Pages): string {
  const language = languageOf(path);
  return CHAPTERS.map(({ title, pages: listed }) => {
    const items = listed.map((page) => `<li>${linkTo(inLanguage(page, language, pages), path, pages)}</li>`);
    return `<h2>${title[language]}</h2>\n<ul>\n${items.join('\n')}\n</ul>`;
  }).join('\n');
}

/** A link of the navigation; pages that exist in English alone say so in the Chinese one. */
function linkTo(target: string, from: string, pages: Pages, prefix = ''): string {
  const isForeign = languageOf(target) !== languageOf(from);
  const note = isForeign ? `<span class="muted">${TEXTS[languageOf(from)].otherLanguageOnly}</span>` : '';
  const attributes = `${target === from ? ' aria-current="page"' : ''}${isForeign ? ` hreflang="${languageOf(target)}"` : ''}`;
  return `<a href="${relativeAddress(from, addressOf(target))}"${attributes}>${prefix}${escape(titleOf(target, pages))}${note}</a>`;
}

function titleOf(path: string, pages: Pages): string {
  const { title } = pages.get(path)!;
  // The start page is named after the product, which is above the navigation already.
  return title === 'Gatehouse' ? { en: 'Overview', 'zh-CN': '概览' }[languageOf(path)] : title;
}

/** A page in a language, or in English where it was not translated. */
export function inLanguage(path: string, language: Language, pages: Pages): string {
  const english = languageOf(path) === 'en' ? path : englishOf(path);
  const translated = translationOf(english);
  return language !== 'en' && pages.has(translated) ? translated : english;
}

function englishOf(path: string): string {
  return path.replace('docs/zh-CN/', 'docs/').replace('.zh-CN.md', '.md');
}

function neighboursOf(path: string, pages: Pages): string {
  const language = languageOf(path);
  const all = CHAPTERS.flatMap((chapter) => chapter.pages.map((page) => inLanguage(page, language, pages)));
  const at = all.indexOf(path);
  if (at === -1) return '';
  const { previous, next } = TEXTS[language];
  const links = [
    [all[at - 1], previous],
    [all[at + 1], next],
  ] as const;
  const cells = links.map(([page, label]) =>
    page === undefined ? '<span></span>' : linkTo(page, path, pages, `<small>${label}</small>`),
  );
  return `<nav class="neighbours" aria-label="${previous} / ${next}">${cells.join('\n')}</nav>`;
}

function outlineOf({ headings }: RenderedPage, language: Language): string {
  const listed = headings.filter(({ level }) => level === 2 || level === 3);
  if (listed.length < 2) return '';
  const title = TEXTS[language].onThisPage;
  const items = listed.map(
    ({ level, anchor, text }) =>
      `<li class="level-${level}"><a href="#${encodeURIComponent(anchor)}">${escape(text)}</a></li>`,
  );
  return `<nav class="outline" aria-label="${title}"><h2>${title}</h2>\n<ul>\n${items.join('\n')}\n</ul></nav>`;
}

/** For search engines and previews of links. */
function summaryOf({ title, sections }: RenderedPage): string {
  const text = sections.find((section) => section.text !== '')?.text.replaceAll(/\s+/g, ' ') ?? title;
  return text.length > 160 ? `${text.slice(0, 157)}…` : text;
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
