import { toStrictJson } from '../text/relaxed-json.js';
import type { Profile } from './profile.js';
import { isFields, type Fields } from './sing-box-conditions.js';
import { readSingBoxDns, type Ways } from './sing-box-dns.js';
import { readSingBoxGroups } from './sing-box-groups.js';
import { readSingBoxRoute } from './sing-box-rules.js';

/** Keys that are read, here or with the nodes. */
const READ = new Set(['outbounds', 'endpoints', 'route', 'dns', '$schema']);

/** What a configuration of sing-box has besides its nodes. */
export function readSingBoxProfile(text: string, profile: Profile): void {
  const document = parse(text) ?? parse(toStrictJson(text) ?? '');
  // A list of outbounds alone has nothing else.
  if (!isFields(document)) return;
  const outbounds = Array.isArray(document['outbounds']) ? document['outbounds'].filter(isFields) : [];
  readSingBoxGroups(outbounds, profile);
  if (isFields(document['route']) || profile.groups.length > 0) readSingBoxRoute(document, outbounds, profile);
  readSingBoxDns(document['dns'], waysOf(document, outbounds), profile);
  profile.machineOptions.push(...Object.keys(document).filter((key) => !READ.has(key)));
}

function waysOf({ route }: Fields, outbounds: readonly Fields[]): Ways {
  const final = isFields(route) ? route['final'] : undefined;
  const usual = final ?? outbounds[0]?.['tag'];
  const direct = new Set(outbounds.filter(({ type }) => type === 'direct').map(({ tag }) => tag));
  return { usual: typeof usual === 'string' ? usual : undefined, isDirect: (outbound) => direct.has(outbound) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
