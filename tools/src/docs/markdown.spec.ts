import { describe, expect, it } from 'vitest';
import { renderPage, type Sources } from './markdown.js';

const PNG = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAYAAAC56t6BAAAAAElFTkSuQmCC', 'base64');
const FILES = new Map([
  ['docs/pictures/a.png', PNG],
  ['docs/examples/app.ts', Buffer.from('x')],
]);
const PAGES = new Set(['README.md', 'docs/a.md', 'docs/b.md', 'docs/examples/README.md', 'docs/zh-CN/a.md']);
const SOURCES: Sources = { isPage: (path) => PAGES.has(path), file: (path) => FILES.get(path) };

function html(markdown: string, path = 'docs/a.md'): string {
  return renderPage(path, `# Title\n\n${markdown}`, SOURCES).html;
}

describe('a rendered page', () => {
  it('is named after its first heading, and gives headings the anchors of GitHub', () => {
    const page = renderPage(
      'docs/a.md',
      '# The `a` page\n\n## Ports & addresses\n\n## 端口和地址\n\n## Same\n\n## Same\n',
      SOURCES,
    );
    expect(page.title).toBe('The a page');
    expect(page.headings.map(({ anchor }) => anchor)).toEqual([
      'the-a-page',
      'ports--addresses',
      '端口和地址',
      'same',
      'same-1',
    ]);
    expect(page.html).toContain('<h2 id="ports--addresses">');
    expect(() => renderPage('docs/a.md', 'No heading', SOURCES)).toThrow('docs/a.md has no heading of the first level');
  });

  it.each([
    ['docs/a.md', 'b.md#x', 'b.html#x'],
    ['docs/a.md', '../README.md', 'index.html'],
    ['docs/a.md', 'zh-CN/a.md', 'zh-CN/a.html'],
    ['docs/a.md', 'examples', 'examples/index.html'],
    ['docs/a.md', 'examples/app.ts', 'examples/app.ts.txt'],
    ['docs/zh-CN/a.md', '../b.md', '../b.html'],
    ['README.md', 'docs/zh-CN/a.md#标题', 'zh-CN/a.html#%E6%A0%87%E9%A2%98'],
    ['docs/a.md', '#x', '#x'],
    ['docs/a.md', 'https://example.com/a.md', 'https://example.com/a.md'],
  ])('in %s leads from %s to %s', (page, href, address) => {
    expect(html(`[link](${href})`, page)).toContain(`<a href="${address}">link</a>`);
  });

  it.each(['../libs/net/src/index.ts', '../../outside.md', 'nothing.md'])(
    'shows a link to %s, which the site does not have, as text',
    (href) => {
      const page = html(`before [the \`link\`](${href}) after`);
      expect(page).toContain('<p>before the <code>link</code> after</p>');
    },
  );

  it('states the size of pictures, so that nothing moves when they arrive', () => {
    expect(html('![A picture](pictures/a.png)')).toMatch(/<a href="pictures\/a.png"><img [^>]*width="2" height="3"/);
    expect(() => html('![None](pictures/none.png)')).toThrow(
      'docs/a.md shows docs/pictures/none.png, which does not exist',
    );
  });

  it('contains no HTML of its source, and leaves out comments and links to the other language', () => {
    const page = html(
      'English · [简体中文](zh-CN/a.md)\n\n<!-- begin -->\n\n<script>alert(1)</script>\n\n```sh\n<b>\n```\n',
    );
    expect(page).not.toMatch(/<script|<b>|简体中文|begin/);
    expect(page).toContain('<code class="language-sh">&lt;b&gt;');
  });

  it('gives the search the text below each heading', () => {
    const { sections } = renderPage(
      'docs/a.md',
      '# A\n\nFirst *words*.\n\n## B\n\n- one\n- two\n\n```\nnpm start\n```\n',
      SOURCES,
    );
    expect(sections.map(({ heading, text }) => [heading.text, text])).toEqual([
      ['A', 'First words.'],
      ['B', 'one\ntwo\nnpm start\n'],
    ]);
  });
});
