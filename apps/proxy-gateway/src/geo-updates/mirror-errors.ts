/** Between the errors of two mirrors: `a.example: It failed. b.example: It failed.` */
const NEXT_MIRROR = / (?=[\w.-]+(?::\d{1,5})?: )/;

/** What each mirror of a database answered, in the reader's language: `translate` knows each error alone. */
export function translateMirrorErrors(error: string, translate: (english: string) => string): string {
  return error
    .split(NEXT_MIRROR)
    .map((part) => {
      // Errors of the fetcher are known as those of a provider.
      const asProvider = part.replaceAll('The server', 'The provider');
      const said = translate(asProvider);
      return said === asProvider ? translate(part) : said;
    })
    .join(' ');
}
