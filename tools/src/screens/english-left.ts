/** Words of what a page shows that are names of the wire, of products or of units, in any language. */
const NAMES =
  /\b(?:ACME|API|ASN|ASCII|CLASH|CPU|DIRECT|DNS|English|Fake|Gatehouse|Geo(?:IP|Site)?|HTTP|Hosts|ID|IP|KiB|MiB|GiB|LAN|Node|PROXY|PostgreSQL|REJECT|SOCKS|TCP|TLS|TXT|UDP|Webhook|URL|User-Agent|UTC|address|auto|country|default|embedded|false|fallback|global|iB|load-balance|mixed|rule|select|true|url-test)\b/g;

const SENTENCE = /[A-Za-z]{2,}(?: [A-Za-z]{2,}){2,}/;

/** Where pages have their labels, headings and hints. */
export const LABELS = 'h1, h2, h3, label, th, button, legend, dt, option, .hint, .muted';

/** Labels and headings that are still in English: three words of Latin letters in a row are no name. `names`: of the reader's own rows. */
export function englishLeft(texts: readonly string[], names: readonly string[] = []): string[] {
  return texts.filter((text) => !names.includes(text) && SENTENCE.test(text.replaceAll(NAMES, '·')));
}

/** `client.online`, `share:manage`, `share_id`: what programs call something, in place of words. */
const API_NAME = /^[a-z]+(?:[._:][a-z]+)+$/;
/** Of domains that readers publish. */
const DOMAIN = /\.(?:com|example|localhost|net|org|test)$/;

/** Where pages say in words what something is. Hints may name it for programs, too, and what is marked as code is meant to be a name of the API. */
export const WORDS = ':is(h1, h2, h3, label, th, button, legend, dt, option, .badge):not(:has(code))';

/** Labels, choices and badges that are names of the API. */
export function apiNames(texts: readonly string[]): string[] {
  return texts.map((text) => text.trim()).filter((text) => API_NAME.test(text) && !DOMAIN.test(text));
}
