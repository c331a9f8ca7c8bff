import type { RuleConfig, RuleSetConfig } from '@gatehouse/proxy-kernel';

/** Lists named inside conditions: `AND,((GEOSITE,cn),(NETWORK,udp))`. */
const NAMED = /\(\s*GEOSITE\s*,\s*([A-Za-z0-9_.!@-]{1,128})\s*[,)]/gi;

/** The lists that GEOSITE rules name, under the names that the kernel looks up. Missing lists are left out. */
export function siteSets(
  rules: readonly Pick<RuleConfig, 'type' | 'payload'>[],
  entriesOf: (code: string) => readonly string[] | null,
): RuleSetConfig[] {
  const codes = new Set(rules.flatMap(codesOf));
  return [...codes].flatMap((code) => {
    const entries = entriesOf(code);
    return entries === null ? [] : [{ name: `geosite:${code}`, behavior: 'classical' as const, entries }];
  });
}

function codesOf({ type, payload }: Pick<RuleConfig, 'type' | 'payload'>): string[] {
  if (type === 'GEOSITE') return [payload.toLowerCase()];
  if (type !== 'AND' && type !== 'OR' && type !== 'NOT') return [];
  return [...payload.matchAll(NAMED)].map(([, code = '']) => code.toLowerCase());
}
