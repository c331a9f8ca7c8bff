import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readBundledCountryFile } from '@gatehouse/geo';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CountryFile } from './country-file.js';

let folder: string;
let problems: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-countries-'));
  problems = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = (path: string | null): CountryFile => new CountryFile(path, (message) => problems.push(message));

describe('the country database', () => {
  it('is the bundled file by default, read once and only when needed', () => {
    const file = open(null);
    expect([file.isThere, file.countryOf('8.8.8.8')]).toEqual([false, undefined]);
    expect([file.load(), file.load()]).toEqual([true, false]);
    expect(file.countryOf('8.8.8.8')).toBe('US');
    expect(file.countryOf('192.0.2.1')).toBeNull();
    expect(problems).toEqual([]);
  });

  it('is read again when the file changes, and keeps the old content if the file is broken', () => {
    const path = join(folder, 'countries.mmdb');
    const file = open(path);
    expect(file.load()).toBe(false);
    expect(problems).toEqual([expect.stringContaining('rules about countries match nothing')]);
    expect([file.load(), problems.length]).toEqual([false, 1]);
    writeFileSync(path, readBundledCountryFile());
    expect([file.load(), file.countryOf('8.8.8.8')]).toEqual([true, 'US']);
    writeFileSync(path, 'not a database');
    expect([file.load(), file.countryOf('8.8.8.8')]).toEqual([false, 'US']);
    expect(problems[1]).toContain('the previous one stays in use');
  });
});
