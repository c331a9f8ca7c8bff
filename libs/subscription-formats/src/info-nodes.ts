import type { ProxyNode } from '@gatehouse/contracts';
import type { SubscriptionInfo } from './parsed.js';

/** An amount such as `12.3 GB`, `500M` or `1,024 МБ`. */
const AMOUNT = /(\d+(?:[.,]\d+)*)\s*([KMGTPкмгтп]?)i?[BбБ]?(?![\p{L}\d])/u.source;
const DATE = /(\d{4}[-/.年]\d{1,2}[-/.月]\d{1,2}日?(?:[ T]\d{1,2}:\d{2}(?::\d{2})?)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})/u
  .source;
const FOREVER =
  /(?:长期有效|長期有效|永久|永不过期|无限期|不限时|never|unlimited|lifetime|∞|бессрочно|навсегда|نامحدود)/u.source;
/** Decoration that panels put before the words: emoji, brackets, dashes. */
const LEAD = /^[^\p{L}\d]*/u.source;
const SIGN = /\s*[:：=|\-—]?\s*/u.source;
const COLON = /\s*[:：=|]\s*/u.source;

const REMAINING_WORDS =
  '剩余流量|剩余可用流量|可用流量|流量剩余|剩餘流量|剩余|remaining(?: traffic| data)?|traffic (?:left|remaining|rest)|data left|bandwidth (?:left|remaining)|осталось(?: трафика)?|остаток(?: трафика)?|حجم باقی(?:\u200c| )?مانده';
const TOTAL_WORDS = '总流量|套餐流量|總流量|total(?: traffic)?|quota|всего';
const USED_WORDS = '已用流量|已用|used(?: traffic)?|использовано|流量|traffic|bandwidth|трафик|حجم';
const EXPIRE_WORDS =
  '套餐到期(?:时间|日期)?|到期(?:时间|日期|時間)?|过期(?:时间|日期)?|過期時間|有效期(?:至|到)?|套餐有效期|expir(?:e|es|ed|y|ation)(?: ?(?:date|time|at|on|in))?|valid (?:until|till|to)|истекает|срок(?: действия)?|действует до|до|انقضا|تاریخ انقضا';
const RESET_WORDS =
  '距离?下次重置(?:流量)?(?:剩余|还有)?|下次重置|重置(?:时间|日期|剩余)|下個重置|reset(?:s)?(?: ?(?:in|on|date|at))?|days? left|剩余天数|сброс';
const NOTICE_WORDS =
  '官网|官網|最新官网|官方网站|网址|網址|最新地址|最新域名|备用网址|防失联|永久地址|发布页|公告|通知|客服|售后|(?:tg|telegram|电报|qq|微信)?(?:群|群组|交流群|频道|頻道)|website|homepage|home ?page|official site|support|сайт|поддержка';

const OF_TOTAL = `(?:\\s*[|/]\\s*${AMOUNT})?`;
/** Words that labels of real nodes begin with, too, need a colon, or nothing after the amount. */
const ALONE = /[^\p{L}\d]*$/u.source;
const REMAINING = pattern(`${LEAD}(?:${REMAINING_WORDS})${SIGN}${AMOUNT}${OF_TOTAL}`);
const TOTAL = weakPattern(TOTAL_WORDS);
const USED = weakPattern(USED_WORDS);
const EXPIRE = pattern(`${LEAD}(?:${EXPIRE_WORDS})${SIGN}(?:${DATE}|${FOREVER}|\\d+\\s*(?:天|日|days?|дн))`);
const RESET = pattern(`${LEAD}(?:${RESET_WORDS})${SIGN}(?:${DATE}|\\d+\\s*(?:天|日|小时|days?|hours?|дн)?)\\s*$`);
const NOTICE = pattern(`${LEAD}(?:${NOTICE_WORDS})${COLON}\\S`);
const FILTERED = pattern(`${LEAD}(?:过滤掉|已过滤|隐藏)\\s*\\d+\\s*条?(?:线路|节点)`);
/** Words that make a label a message if its server cannot be one. */
const MESSAGE = pattern(
  '剩余|流量|到期|过期|套餐|官网|订阅|更新|公告|重置|群|频道|traffic|expire|remaining|subscri|update|renew|website|telegram|трафик|истек|подпис|حجم|انقضا',
);
const QUICK = pattern(
  `剩|流量|到期|过期|過期|有效期|套餐|重置|官|网址|網址|地址|域名|防失联|发布页|公告|通知|客服|售后|群|频道|頻道|过滤|隐藏|已用|traffic|remain|data left|bandwidth|total|quota|used|expir|valid|reset|left|website|home ?page|official|support|оста|трафик|всего|использ|истек|срок|до|сброс|сайт|поддерж|حجم|انقضا|update|renew|subscri|telegram|订阅|更新`,
);

const PLACEHOLDERS = new Set([
  '0.0.0.0',
  '::',
  'localhost',
  '1.1.1.1',
  '8.8.8.8',
  '1.2.3.4',
  'example.com',
  'google.com',
  'www.google.com',
  'baidu.com',
  'www.baidu.com',
]);

function pattern(source: string): RegExp {
  return new RegExp(source, 'iu');
}

/** Groups 1-4: amounts after a colon; groups 5-8: amounts that end the label. */
function weakPattern(words: string): RegExp {
  const amounts = `${AMOUNT}${OF_TOTAL}`;
  return pattern(`${LEAD}(?:${words})(?:${COLON}${amounts}|${SIGN}${amounts}${ALONE})`);
}

/**
 * Whether a node is only a message of the provider ("remaining traffic: 12 GB"). If so, its figures are stored in `info`.
 * A label is enough only if it begins with a keyword that a figure, a date or an address follows. Otherwise the server must
 * also be one that cannot exist.
 */
export function readInfoName(node: ProxyNode, info: SubscriptionInfo): boolean {
  const name = node.name;
  if (!QUICK.test(name)) return false;
  return readTraffic(name, info) || readExpiry(name, info) || isNotice(name) || isPlaceholder(node);
}

function readTraffic(name: string, info: SubscriptionInfo): boolean {
  const remaining = amountsOf(REMAINING.exec(name));
  if (remaining.length > 0) {
    info.remainingBytes ??= remaining[0] ?? null;
    info.totalBytes ??= remaining[1] ?? null;
    return true;
  }
  const total = amountsOf(TOTAL.exec(name));
  if (total.length > 0) {
    info.totalBytes ??= total[0] ?? null;
    return true;
  }
  const used = amountsOf(USED.exec(name));
  if (used.length === 0) return false;
  info.totalBytes ??= used[1] ?? null;
  return true;
}

/** The amounts of a match. None if the first has no unit: "Traffic 01" numbers a node. */
function amountsOf(found: RegExpExecArray | null): (number | null)[] {
  if (found === null) return [];
  const start = found[1] === undefined && found.length > 5 ? 5 : 1;
  if (found[start + 1] === '' && !/\d\s*B/i.test(found[0])) return [];
  const amounts = [bytesOf(found[start], found[start + 1])];
  if (found[start + 2] !== undefined) amounts.push(bytesOf(found[start + 2], found[start + 3]));
  return amounts;
}

const POWERS: Record<string, number> = { '': 0, k: 1, m: 2, g: 3, t: 4, p: 5, к: 1, м: 2, г: 3, т: 4, п: 5 };

function bytesOf(figure: string | undefined, unit: string | undefined): number | null {
  const value = Number((figure ?? '').replace(/,(?=\d{3}(?:\D|$))/g, '').replace(',', '.'));
  const bytes = Math.round(value * 1024 ** (POWERS[(unit ?? '').toLowerCase()] ?? 0));
  return Number.isSafeInteger(bytes) ? bytes : null;
}

function readExpiry(name: string, info: SubscriptionInfo): boolean {
  const found = EXPIRE.exec(name);
  if (found === null) return false;
  if (found[1] !== undefined) info.expireAt ??= dateOf(found[1]);
  return true;
}

/** The date of a label in UTC, because labels have no time zone. */
function dateOf(text: string): Date | null {
  const figures = text.match(/\d+/g)?.map(Number) ?? [];
  const [a = 0, b = 0, c = 0, hour = 0, minute = 0, second = 0] = figures;
  const [year, month, day] = a > 999 ? [a, b, c] : [c, b, a];
  const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  const valid = date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return valid ? date : null;
}

function isNotice(name: string): boolean {
  return RESET.test(name) || NOTICE.test(name) || FILTERED.test(name);
}

function isPlaceholder(node: ProxyNode): boolean {
  const { server } = node;
  const nowhere = server.startsWith('127.') || server === '::1' || PLACEHOLDERS.has(server);
  return nowhere && MESSAGE.test(node.name);
}
