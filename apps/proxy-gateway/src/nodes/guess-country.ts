import { isIP } from 'node:net';
import type { CountrySource } from '@gatehouse/contracts';
import type { CountryLookup } from '@gatehouse/proxy-kernel';
import { COUNTRY_CODES, labelsOf } from '../data/country-names.js';

export interface CountryGuess {
  country: string | null;
  source: Extract<CountrySource, 'server_ip' | 'name' | 'none'>;
}

/** Cities and short forms that providers use instead of the name of a country. */
const PLACES: Readonly<Record<string, string>> = {
  'hong kong': 'HK', hongkong: 'HK', 香港: 'HK', 深港: 'HK', 沪港: 'HK', 京港: 'HK', 广港: 'HK',
  taipei: 'TW', 台北: 'TW', 台湾: 'TW', 台灣: 'TW', 新北: 'TW', 彰化: 'TW',
  tokyo: 'JP', osaka: 'JP', 东京: 'JP', 東京: 'JP', 大阪: 'JP', 埼玉: 'JP', 沪日: 'JP', 广日: 'JP', 深日: 'JP',
  seoul: 'KR', 首尔: 'KR', 首爾: 'KR', 春川: 'KR', korea: 'KR', 韩国: 'KR', 韓國: 'KR',
  狮城: 'SG', 獅城: 'SG',
  'los angeles': 'US', 'san jose': 'US', 'silicon valley': 'US', seattle: 'US', 'new york': 'US', chicago: 'US', dallas: 'US', phoenix: 'US', ashburn: 'US', fremont: 'US', miami: 'US',
  洛杉矶: 'US', 圣何塞: 'US', 硅谷: 'US', 西雅图: 'US', 纽约: 'US', 芝加哥: 'US', 达拉斯: 'US', 凤凰城: 'US', 美國: 'US', 美国: 'US', america: 'US', usa: 'US',
  london: 'GB', 伦敦: 'GB', 英国: 'GB', 英國: 'GB', england: 'GB', britain: 'GB',
  frankfurt: 'DE', 法兰克福: 'DE', 'saint petersburg': 'RU', moscow: 'RU', 莫斯科: 'RU', 俄罗斯: 'RU', 俄羅斯: 'RU', 伯力: 'RU', 新西伯利亚: 'RU',
  paris: 'FR', 巴黎: 'FR', amsterdam: 'NL', 阿姆斯特丹: 'NL', holland: 'NL', sydney: 'AU', 悉尼: 'AU', 墨尔本: 'AU', toronto: 'CA', montreal: 'CA', vancouver: 'CA', 多伦多: 'CA',
  mumbai: 'IN', 孟买: 'IN', istanbul: 'TR', 伊斯坦布尔: 'TR', turkey: 'TR', dubai: 'AE', 迪拜: 'AE', 'sao paulo': 'BR', 圣保罗: 'BR',
  bangkok: 'TH', 曼谷: 'TH', jakarta: 'ID', 雅加达: 'ID', manila: 'PH', 'kuala lumpur': 'MY', 吉隆坡: 'MY', zurich: 'CH', 苏黎世: 'CH', stockholm: 'SE', warsaw: 'PL', vietnam: 'VN',
}; // prettier-ignore

/** Codes of two capital letters that too often mean something else. */
const UNSURE_CODES = new Set(['AM', 'ID', 'IS', 'NO', 'PM', 'TO', 'WS']);

const known = new Set(COUNTRY_CODES);
/** Longest first, so that a longer label is found before a shorter one inside it. */
const labels: readonly (readonly [label: string, code: string])[] = [
  ...Object.entries(PLACES),
  ...COUNTRY_CODES.flatMap((code) => labelsOf(code).map((label) => [label, code] as const)),
]
  .filter(([label]) => label.length > 1)
  .sort(([a], [b]) => b.length - a.length);

/** The country of a node by its server's address, otherwise by its name. A server with a host name is not resolved. */
export function guessCountry(name: string, server: string, lookup: CountryLookup): CountryGuess {
  const byAddress = isIP(server) === 0 ? null : lookup(server);
  if (byAddress !== null) return { country: byAddress, source: 'server_ip' };
  const byName = countryInName(name);
  return byName === null ? { country: null, source: 'none' } : { country: byName, source: 'name' };
}

/** The country of a node: that of its exit address if it was measured, otherwise as `guessCountry` finds it. */
export function detectCountry(
  node: { originalName: string; server: string; exitCountry: string | null },
  lookup: CountryLookup,
): { country: string | null; source: CountrySource } {
  if (node.exitCountry !== null) return { country: node.exitCountry, source: 'exit_ip' };
  return guessCountry(node.originalName, node.server, lookup);
}

/** A flag, otherwise a country or city that is spelled out, otherwise a code in capitals that stands alone. */
export function countryInName(name: string): string | null {
  return byFlag(name) ?? byLabel(name.toLowerCase()) ?? byCode(name);
}

function byFlag(name: string): string | null {
  for (const [pair] of name.matchAll(/[\u{1F1E6}-\u{1F1FF}]{2}/gu)) {
    const code = Array.from(pair, (symbol) => String.fromCharCode(symbol.codePointAt(0)! - 0x1f1e6 + 65)).join('');
    if (known.has(code)) return code;
  }
  return null;
}

function byLabel(name: string): string | null {
  for (const [label, code] of labels) {
    const at = name.indexOf(label);
    if (at !== -1 && standsAlone(name, at, label)) return code;
  }
  return null;
}

/**
 * A Latin or Cyrillic label must not be part of a longer word ("oman" in "romania"); Chinese has no spaces between
 * words.
 */
function standsAlone(name: string, at: number, label: string): boolean {
  const letter = /[\p{Script=Latin}\p{Script=Cyrillic}]/u;
  if (!letter.test(label[0]!)) return true;
  return !letter.test(name[at - 1] ?? ' ') && !letter.test(name[at + label.length] ?? ' ');
}

function byCode(name: string): string | null {
  for (const [, token] of name.matchAll(/(?<![A-Za-z])([A-Z]{2})(?![A-Za-z])/g)) {
    if (token === 'UK') return 'GB';
    if (known.has(token!) && !UNSURE_CODES.has(token!)) return token!;
  }
  return null;
}
