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

export interface NamedProgram {
  browser: string;
  system: string | undefined;
}

/** The names that people know a program and its system by, from its User-Agent; null where it is none that people know. */
export function nameProgram(userAgent: string): NamedProgram | null {
  const find = (known: readonly (readonly [string, string])[]): string | undefined =>
    known.find(([mark]) => userAgent.includes(mark))?.[1];
  const browser = find(BROWSERS);
  return browser === undefined ? null : { browser, system: find(SYSTEMS) };
}
