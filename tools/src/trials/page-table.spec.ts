import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { mergeRows, readTable, writeTable } from './page-table.js';

const folder = mkdtempSync(join(tmpdir(), 'page-table-'));
const page = join(folder, 'page.md');
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a table in a page', () => {
  it('takes the place of the one before, and leaves the rest; a mark that is missing is an error', () => {
    writeFileSync(page, 'above\n<!-- a: begin -->\nold\n<!-- a: end -->\nbelow\n');
    writeTable(
      page,
      'a',
      [
        ['x', 'y'],
        ['1|2', '3\n4'],
      ],
      'Run today.',
    );
    const written = '\n\n| x | y |\n| --- | --- |\n| 1\\|2 | 3 4 |\n\nRun today.\n\n';
    expect(readFileSync(page, 'utf8')).toBe(`above\n<!-- a: begin -->${written}<!-- a: end -->\nbelow\n`);
    expect(readTable(page, 'a')).toEqual([['1|2', '3 4']]);
    expect(() => writeTable(page, 'b', [['x']], '')).toThrow('no place for the table "b"');
  });

  it('keeps the rows of a page for what was not run again', () => {
    const former = [
      ['kill', 'old'],
      ['forgotten (9 connections)', 'old'],
      ['of another version', 'old'],
    ];
    expect(
      mergeRows(
        ['new', 'kill', 'forgotten', 'never run'],
        [
          ['new', '1'],
          ['forgotten (8 connections)', '2'],
        ],
        former,
      ),
    ).toEqual([
      ['new', '1'],
      ['kill', 'old'],
      ['forgotten (8 connections)', '2'],
    ]);
  });
});
