import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readBundledCountryFile } from '@gatehouse/geo';
import { asnFile } from '@gatehouse/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AddressFiles } from './address-files.js';

let folder: string;
let problems: string[];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gatehouse-addresses-'));
  problems = [];
});
afterEach(() => rmSync(folder, { recursive: true }));

const open = (geoPath: string | null, asnPath: string | null = null): AddressFiles =>
  new AddressFiles({ geoFile: geoPath, asnFile: asnPath }, (message) => problems.push(message));

describe('the country database', () => {
  it('is the bundled file by default, read once and only when needed', () => {
    const { countries } = open(null);
    expect([countries.isThere, countries.lookup('8.8.8.8')]).toEqual([false, undefined]);
    expect([countries.load(), countries.load()]).toEqual([true, false]);
    expect(countries.lookup('8.8.8.8')).toBe('US');
    expect(countries.lookup('192.0.2.1')).toBeNull();
    expect(problems).toEqual([]);
  });

  it('is read again when the file changes, and keeps the old content if the file is broken', () => {
    const path = join(folder, 'countries.mmdb');
    const { countries } = open(path);
    expect(countries.load()).toBe(false);
    expect(problems).toEqual([expect.stringContaining('rules about countries match nothing')]);
    expect([countries.load(), problems.length]).toEqual([false, 1]);
    writeFileSync(path, readBundledCountryFile());
    expect([countries.load(), countries.lookup('8.8.8.8')]).toEqual([true, 'US']);
    writeFileSync(path, 'not a database');
    expect([countries.load(), countries.lookup('8.8.8.8')]).toEqual([false, 'US']);
    expect(problems[1]).toContain('the previous one stays in use');
  });
});

describe('the database of autonomous systems', () => {
  it('is missing unless it is set, which is said once and only when a rule needs it', () => {
    const files = open(null);
    expect(files.load(new Set(['cidr', 'country']))).toBe(true);
    expect(problems).toEqual([]);
    expect([files.load(new Set(['asn'])), files.load(new Set(['asn']))]).toEqual([false, false]);
    expect(files.systems.lookup('1.1.1.1')).toBeUndefined();
    expect(problems).toEqual([expect.stringContaining('GEOIP_ASN_FILE')]);
  });

  it('is read without that of countries, and again when it changes', () => {
    const path = join(folder, 'asn.mmdb');
    writeFileSync(path, asnFile({ '1.1.1.0/24': 13335 }));
    const files = open(null, path);
    expect(files.load(new Set(['asn']))).toBe(true);
    expect(files.countries.isThere).toBe(false);
    expect(['1.1.1.1', '9.9.9.9'].map(files.systems.lookup)).toEqual([13335, null]);
    writeFileSync(path, asnFile({ '1.1.1.0/24': 64512, '9.9.9.0/24': 19281 }));
    expect(files.load(new Set(['asn']))).toBe(true);
    expect(['1.1.1.1', '9.9.9.9'].map(files.systems.lookup)).toEqual([64512, 19281]);
    // A database of something else is not taken.
    writeFileSync(path, readBundledCountryFile());
    expect([files.load(new Set(['asn'])), files.systems.lookup('9.9.9.9')]).toEqual([false, 19281]);
  });
});
