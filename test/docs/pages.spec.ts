import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const TRANSLATED: readonly (readonly [english: string, chinese: string])[] = [
  ['README.md', 'README.zh-CN.md'],
  ['CONTRIBUTING.md', 'CONTRIBUTING.zh-CN.md'],
  ...[...markdownIn('docs/zh-CN'), ...markdownIn('docs/zh-CN/examples')].map(
    (page) => [page.replace('docs/zh-CN/', 'docs/'), page] as const,
  ),
];
const PAGES = [
  ...markdownIn('.'),
  ...markdownIn('docs'),
  ...markdownIn('docs/decisions'),
  ...markdownIn('docs/examples'),
  ...TRANSLATED.map(([, page]) => page),
];

describe('a page in two languages', () => {
  it.each(TRANSLATED)('%s has the same headings and commands as %s', (english, chinese) => {
    expect(headingLevels(chinese)).toEqual(headingLevels(english));
    expect(commands(chinese)).toEqual(commands(english));
    expect(inlineCommands(chinese)).toEqual(inlineCommands(english));
    expect(read(english)).toContain('[简体中文](');
    expect(read(chinese)).toContain('[English](');
  });
});

it('every link between pages leads to a file and a heading that exist', () => {
  const links = PAGES.flatMap((page) => relativeLinks(page).map((target) => ({ page, target })));
  expect(links.length).toBeGreaterThan(100);
  expect(links.filter(({ page, target }) => !leadsSomewhere(page, target))).toEqual([]);
});

function markdownIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));
}

function read(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8');
}

function withoutCode(text: string): string {
  return text
    .replaceAll(/^```.*?^```/gms, '')
    .replaceAll(/`[^`\n]*`/g, (code) => code.slice(1, -1).replaceAll(/[[\]]/g, ''));
}

function headings(page: string): string[] {
  return withoutCode(read(page)).match(/^#+ .*$/gm) ?? [];
}

function headingLevels(page: string): number[] {
  return headings(page).map((heading) => heading.indexOf(' '));
}

/** The lines of code blocks without their comments, which are translated, as is what commands print (`text`). */
function commands(page: string): string[] {
  const blocks = read(page).match(/^```.*?^```/gms) ?? [];
  return blocks.flatMap((block) => {
    const lines = block.split('\n').map((line) => line.replace(/\s+# .*$/, ''));
    return lines[0] === '```text' ? lines.map((_, index) => `printed ${index}`) : lines;
  });
}

/** The commands within sentences, in no order: sentences of two languages differ in theirs. */
function inlineCommands(page: string): string[] {
  const found = read(page).match(/`(npm|npx|node|curl|pip) [^`\n]+`/g) ?? [];
  return [...new Set(found)].toSorted();
}

function relativeLinks(page: string): string[] {
  const targets = [...withoutCode(read(page)).matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!);
  return targets.filter((target) => !/^[a-z]+:/.test(target));
}

function leadsSomewhere(page: string, target: string): boolean {
  const [path, anchor] = target.split('#') as [string, string?];
  const file = path === '' ? page : join(dirname(page), path);
  if (!existsSync(join(ROOT, file))) return false;
  return !anchor || !file.endsWith('.md') || headings(file).map(anchorOf).includes(anchor);
}

/** As GitHub makes it. */
function anchorOf(heading: string): string {
  return heading
    .replace(/^#+ /, '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
}
