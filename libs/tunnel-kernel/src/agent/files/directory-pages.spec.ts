import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { visitorWords } from '../../messages/index.js';
import { DirectoryPages } from './directory-pages.js';

const english = visitorWords('en');
let folder: string;
let time: number;
let pages: DirectoryPages;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-pages-'));
  time = 1000;
  pages = new DirectoryPages(() => time);
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('DirectoryPages', () => {
  it('serves one page for a second, whatever the number of requests', async () => {
    const [first, second] = await Promise.all([pages.page(folder, '/', english), pages.page(folder, '/', english)]);
    expect(second).toBe(first);
    writeFileSync(join(folder, 'new'), '');
    time += 999;
    expect(await pages.page(folder, '/', english)).toBe(first);
    time += 1;
    expect(await pages.page(folder, '/', english)).toContain('new');
  });

  it('shows the directory under the path that each visitor used', async () => {
    expect(await pages.page(folder, '/a/', english)).toContain('<h1>/a/</h1>');
    expect(await pages.page(folder, '/b/', english)).toContain('<h1>/b/</h1>');
  });

  it('creates one page for each language', async () => {
    expect(await pages.page(folder, '/', english)).toContain('<p>This folder is empty.</p>');
    const chinese = await pages.page(folder, '/', visitorWords('zh-CN'));
    expect(chinese).toContain('<html lang="zh-CN">');
    expect(chinese).toContain('<p>此文件夹为空。</p>');
  });

  it('retries after a failure', async () => {
    const later = join(folder, 'later');
    await expect(pages.page(later, '/', english)).rejects.toMatchObject({ code: 'ENOENT' });
    writeFileSync(later, '');
    await expect(pages.page(later, '/', english)).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  it('creates a few pages at a time, queues some requests and refuses the rest', async () => {
    const asked = Array.from({ length: 300 }, (_, index) => pages.page(folder, `/${index}/`, english));
    const settled = await Promise.allSettled(asked);
    const refused = settled.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(300 - 4 - 256);
    expect((refused[0] as PromiseRejectedResult).reason).toMatchObject({ code: 'overloaded' });
    expect(await pages.page(folder, '/after/', english)).toContain('/after/');
  });
});
