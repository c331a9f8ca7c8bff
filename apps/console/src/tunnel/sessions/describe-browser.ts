import { t } from '../messages/index.js';

const BROWSERS = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
  ['curl/', 'curl'],
] as const;
const SYSTEMS = [
  ['Android', 'Android'],
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const;

/** What a program says of itself, in two words; whole where it is none that people know. */
export function describeBrowser(software: string | null): string {
  if (software === null || software === '') return t('sessions.unknownProgram');
  const find = (known: readonly (readonly [string, string])[]): string | undefined =>
    known.find(([mark]) => software.includes(mark))?.[1];
  const browser = find(BROWSERS);
  const system = find(SYSTEMS);
  if (browser === undefined) return software;
  return system === undefined ? browser : t('sessions.on', { browser, system });
}
