import { posix } from 'node:path';
import MarkdownIt, { type Token } from 'markdown-it';
import { addressOf } from './contents.js';
import { pngSize } from './png-size.js';

export interface Heading {
  /** 1 to 6. */
  readonly level: number;
  readonly text: string;
  /** As GitHub makes it, so that links work in both places. */
  readonly anchor: string;
}

/** The text below one heading, for the search. */
export interface Section {
  readonly heading: Heading;
  readonly text: string;
}

export interface RenderedPage {
  readonly title: string;
  readonly html: string;
  readonly headings: readonly Heading[];
  readonly sections: readonly Section[];
}

/** Files that pages may show or link to, read when they are asked for. */
export interface Sources {
  /** Whether there is such a page. */
  readonly isPage: (path: string) => boolean;
  /** The content of a picture, or of a file that readers download; undefined if it is none. */
  readonly file: (path: string) => Buffer | undefined;
}

/** Renders a page of the repository. Links between pages lead to their addresses; links to source files become text. */
export function renderPage(path: string, markdown: string, sources: Sources): RenderedPage {
  const parser = new MarkdownIt({ html: false });
  parser.renderer.rules['table_open'] = () => '<div class="table-frame" tabindex="0"><table>\n';
  parser.renderer.rules['table_close'] = () => '</table></div>\n';
  const image = parser.renderer.rules['image']!;
  // A picture in a table is small: it leads to itself.
  parser.renderer.rules['image'] = (tokens, index, ...others) =>
    `<a href="${parser.utils.escapeHtml(String(tokens[index]!.attrGet('src')))}">${image(tokens, index, ...others)}</a>`;
  parser.renderer.rules['fence'] = (tokens, index) => codeBlock(tokens[index]!, parser.utils.escapeHtml);
  const tokens = parser.parse(readable(markdown), {});
  const headings = nameHeadings(tokens);
  for (const token of tokens) adaptInline(token.children ?? [], path, sources);
  const title = headings.find(({ level }) => level === 1)?.text;
  if (title === undefined) throw new Error(`${path} has no heading of the first level`);
  return {
    title,
    html: parser.renderer.render(tokens, parser.options, {}),
    headings,
    sections: sectionsOf(tokens, headings),
  };
}

/** Without notes in comments, and without the line that leads to the other language: the site has a switch for that. */
function readable(markdown: string): string {
  return markdown.replaceAll(/^<!--.*-->\n/gm, '').replace(/^(?:English|\[English\]\([^)]*\)) · .*\n+/m, '');
}

function codeBlock({ content, info }: Token, escape: (text: string) => string): string {
  const language = /^[\w-]+/.exec(info)?.[0] ?? 'text';
  return `<div class="code"><pre tabindex="0"><code class="language-${language}">${escape(content)}</code></pre></div>\n`;
}

/** Gives every heading its anchor; a second one of the same text gets `-1`, as on GitHub. */
function nameHeadings(tokens: readonly Token[]): Heading[] {
  const taken = new Map<string, number>();
  return tokens.flatMap((token, index) => {
    if (token.type !== 'heading_open') return [];
    const text = plainText(tokens[index + 1]!);
    const name = text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(/\s/g, '-');
    const count = taken.get(name) ?? 0;
    taken.set(name, count + 1);
    const anchor = count === 0 ? name : `${name}-${count}`;
    token.attrSet('id', anchor);
    return [{ level: Number(token.tag.slice(1)), text, anchor }];
  });
}

function plainText({ children, content }: Token): string {
  if (!children) return content;
  return children.map((child) => (child.type.endsWith('break') ? ' ' : plainText(child))).join('');
}

function adaptInline(children: Token[], page: string, sources: Sources): void {
  for (const [index, token] of children.entries()) {
    if (token.type === 'image') adaptImage(token, page, sources);
    if (token.type !== 'link_open') continue;
    const href = adaptLink(String(token.attrGet('href')), page, sources);
    if (href !== undefined) token.attrSet('href', href);
    else unlink(children, index);
  }
}

/** The text of a link whose target is no part of the site stays, as text. */
function unlink(children: Token[], open: number): void {
  const close = children.findIndex(({ type }, index) => index > open && type === 'link_close');
  for (const index of [open, close]) {
    const token = children[index]!;
    token.type = 'text';
    token.tag = '';
    token.content = '';
  }
}

/** The address from this page to what a link in the repository means; undefined for what the site does not have. */
function adaptLink(href: string, page: string, sources: Sources): string | undefined {
  if (href.startsWith('#') || /^[a-z]+:/.test(href)) return href;
  const [path, anchor] = href.split('#') as [string, string?];
  const target = posix.normalize(posix.join(posix.dirname(page), decodeURI(path)));
  const hash = anchor === undefined ? '' : `#${anchor}`;
  for (const candidate of [target, posix.join(target, 'README.md')]) {
    if (sources.isPage(candidate)) return relativeAddress(page, addressOf(candidate)) + hash;
  }
  return sources.file(target) === undefined ? undefined : relativeAddress(page, fileAddress(target));
}

function adaptImage(token: Token, page: string, sources: Sources): void {
  const target = posix.normalize(posix.join(posix.dirname(page), String(token.attrGet('src'))));
  const file = sources.file(target);
  if (file === undefined) throw new Error(`${page} shows ${target}, which does not exist`);
  const { width, height } = pngSize(file);
  token.attrSet('src', relativeAddress(page, fileAddress(target)));
  // With its size known, nothing moves when the picture arrives.
  token.attrSet('width', String(width));
  token.attrSet('height', String(height));
  token.attrSet('loading', 'lazy');
}

/** Where a picture or another file of `docs/` is below `/help/`. Programs are there to be read: every server shows text. */
export function fileAddress(path: string): string {
  return path.replace(/^docs\//, '').replace(/\.(?:json|py|ts)$/, '$&.txt');
}

/** From a page to an address below `/help/`. */
export function relativeAddress(page: string, address: string): string {
  const relative = posix.relative(posix.dirname(addressOf(page)), address);
  return relative === '' ? './' : relative;
}

function sectionsOf(tokens: readonly Token[], headings: readonly Heading[]): Section[] {
  const texts = headings.map((): string[] => []);
  let at = -1;
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') at += 1;
    else if (token.type === 'fence') texts[at]?.push(token.content);
    else if (token.type === 'inline' && tokens[index - 1]?.type !== 'heading_open') texts[at]?.push(plainText(token));
  }
  return headings.map((heading, index) => ({ heading, text: texts[index]!.join('\n') }));
}
