import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT } from '../../bootstrap/layout.mjs';
import { CHAPTERS } from './contents.js';

it('the navigation lists every page of the documentation', () => {
  const listed = new Set(CHAPTERS.flatMap(({ pages }) => pages));
  const pages = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
  expect(pages.map((name) => `docs/${name}`).filter((page) => !listed.has(page))).toEqual([]);
});
