import { carriesCode, PLAIN_PARAMETER } from './access-code.js';
import type { ShareLinkKind } from './share-link.js';

export interface LinkParts {
  readonly kind: ShareLinkKind;
  readonly url: string;
  readonly accessCode: string;
}

/** The address that carries the access code in the way of its site; never twice, whatever `url` has already. */
export function formatFullUrl({ kind, url, accessCode }: LinkParts): string {
  if (accessCode === '') return url;
  switch (kind) {
    case 'magnet':
    case 'ed2k':
      return url;
    case 'tianyi':
      return `${withoutGlued(url)}（访问码：${accessCode}）`;
    case '115':
      return withParameter(url, 'password', accessCode);
    case 'xunlei':
      return endsWithHash(withParameter(url, 'pwd', accessCode));
    case '123':
    case 'quark':
    case 'baidu':
    case 'aliyun':
    // Unverified for these: their pages leave an unknown parameter alone, and clients find the code in it.
    case 'uc':
    case 'mobile':
    case 'guangya':
    case 'pikpak':
      return withParameter(url, 'pwd', accessCode);
    case 'others':
      return withParameter(url, 'pwd', accessCode, PLAIN_PARAMETER);
  }
}

const withoutGlued = (url: string): string => /^[^（(]*/.exec(url)?.[0] ?? url;

const endsWithHash = (url: string): string => (url.includes('#') ? url : `${url}#`);

/** Adds to the query as text, for `/m/i?{id}` would not survive URLSearchParams. */
function withParameter(url: string, name: string, value: string, replaced?: ReadonlySet<string>): string {
  const [address, hash] = splitAt(url, '#');
  const [path, query] = splitAt(address, '?');
  const kept = query.slice(1).split('&');
  const parameters = [
    ...kept.filter((parameter) => parameter !== '' && !carriesCode(parameter, replaced)),
    `${name}=${value}`,
  ];
  return `${path}?${parameters.join('&')}${hash}`;
}

/** Before the mark, and from the mark on. */
export function splitAt(text: string, mark: string): [before: string, from: string] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at)];
}
