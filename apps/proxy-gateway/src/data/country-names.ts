const NOT_COUNTRIES = new Set(['EU', 'EZ', 'UN', 'QO', 'XA', 'XB', 'ZZ']);

const english = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
const letters = Array.from({ length: 26 }, (_, index) => String.fromCharCode(65 + index));

/** Every ISO 3166-1 alpha-2 code that the runtime has a name for. An outdated code has its successor's name. */
export const COUNTRY_CODES: readonly string[] = letters
  .flatMap((first) => letters.map((second) => first + second))
  .filter((code) => !NOT_COUNTRIES.has(code) && english.of(code) !== undefined && isCanonical(code));

function isCanonical(code: string): boolean {
  return (
    new Intl.Locale('und', { region: code }).region === code &&
    Intl.getCanonicalLocales(`und-${code}`)[0] === `und-${code}`
  );
}

/** Cached because every node of a page needs a name, and the runtime takes long to look one up. */
const NAMES = new Map(COUNTRY_CODES.map((code) => [code, english.of(code)]));
const FLAGS = new Map(COUNTRY_CODES.map((code) => [code, regionalIndicators(code)]));

/** The English name; null for an unknown code. */
export function countryName(code: string): string | null {
  return NAMES.get(code) ?? english.of(code) ?? null;
}

/** The flag: the two regional indicator symbols of a code. */
export function flagOf(code: string): string {
  return FLAGS.get(code) ?? regionalIndicators(code);
}

function regionalIndicators(code: string): string {
  return String.fromCodePoint(...Array.from(code, (letter) => 0x1f1e6 + letter.charCodeAt(0) - 65));
}

const languages = ['en', 'zh-Hans', 'zh-Hant', 'ja', 'ru'].map(
  (locale) => new Intl.DisplayNames(locale, { type: 'region', fallback: 'none' }),
);

/** Parts that the runtime adds to a name: "Hong Kong SAR China" stands for "Hong Kong". */
const SUFFIX = / sar.*$|中国|中國|特别行政区|特別行政區|\(.*\)/g;

/** Lower-case names of a country, in the languages that providers use for node names. */
export function labelsOf(code: string): string[] {
  const names = languages.flatMap((language) => {
    const name = language.of(code)?.toLowerCase();
    return name === undefined ? [] : [name, name.replace(SUFFIX, '').trim()];
  });
  return [...new Set(names)];
}
