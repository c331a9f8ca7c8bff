import { ShareLinkError } from './share-link.js';

/** Query parameters that carry an access code on a known site. */
const PARAMETERS: ReadonlySet<string> = new Set([
  'pwd',
  'password',
  'passwd',
  'passcode',
  'accesscode',
  'access_code',
  '提取码',
  '访问码',
  '密码',
]);

const CODE = /^[A-Za-z0-9]{1,16}$/;
const LEADING_CODE = /^[A-Za-z0-9]+/;
// A password "of decompression" opens the archive, not the share.
const LABELLED =
  /(?<!解压|解壓|压缩|壓縮)(?:提取码|提取碼|访问码|訪問碼|取件码|分享码|密码|密碼)\s{0,4}[是为為]?\s{0,4}[:=]?\s{0,4}[[【(「]?\s?([A-Za-z0-9]{1,16})(?![A-Za-z0-9])/u;
const LABELLED_IN_ENGLISH =
  /(?<![A-Za-z])(?:pwd|password|passcode|access ?code|code)\s{0,4}[:=]\s{0,4}([A-Za-z0-9]{1,16})(?![A-Za-z0-9])/iu;

/** The code after a label such as 提取码; undefined without one. */
export function labelledCode(text: string): string | undefined {
  return LABELLED.exec(text)?.[1];
}

/** The same in prose, where English labels count too: within an address `code=` may be anything. */
export function codeInProse(text: string): string | undefined {
  return labelledCode(text) ?? LABELLED_IN_ENGLISH.exec(text)?.[1];
}

/** Name and value of one `name=value` of a query. */
function pairOf(parameter: string): [name: string, value: string] {
  const at = parameter.indexOf('=');
  return at < 0 ? [parameter, ''] : [parameter.slice(0, at), parameter.slice(at + 1)];
}

/** The one parameter that is taken for an access code on a site nobody knows: the others may mean anything there. */
export const PLAIN_PARAMETER: ReadonlySet<string> = new Set(['pwd']);

export function carriesCode(parameter: string, names = PARAMETERS): boolean {
  const [name, value] = pairOf(parameter);
  return names.has(decodeText(name).toLowerCase()) && value !== '';
}

/** The access code among the parameters of a query without its `?`. */
export function queryCode(query: string, names = PARAMETERS): string | undefined {
  for (const parameter of query.split('&')) {
    if (!carriesCode(parameter, names)) continue;
    const code = LEADING_CODE.exec(decodeText(pairOf(parameter)[1]).trim())?.[0];
    if (code !== undefined && code.length <= 16) return code;
  }
  return undefined;
}

/** What the caller gave beside the link. Undefined for none. @throws ShareLinkError `bad_access_code` */
export function explicitCode(given: string | null | undefined): string | undefined {
  const code = (given ?? '').normalize('NFKC').trim();
  if (code === '') return undefined;
  if (!CODE.test(code)) throw new ShareLinkError('bad_access_code');
  return code;
}

/** An access code as people type it; empty for none. @throws ShareLinkError `bad_access_code` */
export function parseAccessCode(text: string): string {
  return explicitCode(text) ?? '';
}

export interface CodeChoice {
  readonly accessCode: string;
  readonly accessCodeConflict: boolean;
}

/** Takes the first of the candidates, which stand in order of precedence. */
export function chooseCode(candidates: readonly (string | undefined)[]): CodeChoice {
  const found = candidates.filter((code) => code !== undefined);
  const [accessCode = ''] = found;
  const wanted = accessCode.toLowerCase();
  return { accessCode, accessCodeConflict: found.some((code) => code.toLowerCase() !== wanted) };
}

/** Percent-decoded and in compatibility form; a text that is not valid percent-encoding stays as it is. */
export function decodeText(text: string): string {
  try {
    return decodeURIComponent(text).normalize('NFKC');
  } catch {
    // decodeURIComponent refuses bytes that are not UTF-8: such text carries nothing that is looked for.
    return text;
  }
}
