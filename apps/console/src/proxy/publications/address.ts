import type { PublicationTarget } from '@gatehouse/contracts';
import { t } from '../messages/index.js';

export const TARGET_NAMES: Readonly<Record<PublicationTarget, string>> = {
  clash: 'Clash, mihomo',
  'sing-box': 'sing-box',
  surge: 'Surge',
  loon: 'Loon',
  'quantumult-x': 'Quantumult X',
  base64: 'Base64',
  links: t('publications.links'),
};

/**
 * Where clients fetch a publication. The API is beside the page, wherever a proxy in front has put both.
 * @param path of the API, from its root
 * @param page `document.baseURI`
 */
export function addressOf(path: string, page: string, target?: PublicationTarget): string {
  const address = new URL(path.replace(/^\//, ''), page);
  if (target !== undefined) address.searchParams.set('target', target);
  return address.href;
}
