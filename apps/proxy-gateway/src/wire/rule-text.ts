/** In a filter: no rule matched. */
export const NO_RULE = 'none';

/** The fields of a filter for the rule: `DOMAIN-SUFFIX,example.com`, `MATCH`, or `none`, for which they are null. */
export function parseRuleText(text: string): { type: string; payload: string } | null {
  if (text === NO_RULE) return null;
  const comma = text.indexOf(',');
  return comma < 0 ? { type: text, payload: '' } : { type: text.slice(0, comma), payload: text.slice(comma + 1) };
}
