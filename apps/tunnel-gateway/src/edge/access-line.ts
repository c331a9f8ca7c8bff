import type { LoggedRequest } from '@gatehouse/tunnel-kernel';
import type { AccessLogFormat } from '../common/access-log-formats.js';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const VERSIONS: Readonly<Record<string, string>> = { h2: 'HTTP/2.0' };
/** What would end a line or a quoted part, and what terminals obey; other bytes are not ASCII. */
const ESCAPED = /["\\\p{Cc}]|[^\x20-\x7e]/gu;

/** One line, with its end. Times are in UTC. The user is not known: `-`. */
export function accessLine(request: LoggedRequest, format: AccessLogFormat): string {
  const { visitor, method, target, version, status, bytes, startedAt } = request;
  const line = `${method} ${target} ${VERSIONS[version] ?? `HTTP/${version}`}`;
  const size = bytes === 0 ? '-' : bytes;
  const common = `${visitor} - - [${momentOf(startedAt)}] "${escaped(line)}" ${status ?? '-'} ${size}`;
  if (format === 'common') return `${common}\n`;
  const combined = `${common} "${escaped(request.referer ?? '-')}" "${escaped(request.userAgent ?? '-')}"\n`;
  return format === 'combined'
    ? combined
    : `${escaped(request.authority).replaceAll(' ', String.raw`\x20`)} ${combined}`;
}

function escaped(text: string): string {
  return text.replaceAll(ESCAPED, (character) => {
    if (character === '"' || character === '\\') return `\\${character}`;
    return [...Buffer.from(character)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
  });
}

let second = 0;
let text = '';

/** `29/Nov/2026:18:05:16 +0000`; made once for each second. */
function momentOf(milliseconds: number): string {
  const now = Math.floor(milliseconds / 1000);
  if (now === second && text !== '') return text;
  const time = new Date(now * 1000);
  const two = (value: number): string => String(value).padStart(2, '0');
  const clock = [time.getUTCHours(), time.getUTCMinutes(), time.getUTCSeconds()].map(two).join(':');
  text = `${two(time.getUTCDate())}/${MONTHS[time.getUTCMonth()]}/${time.getUTCFullYear()}:${clock} +0000`;
  second = now;
  return text;
}
