/** Splits at commas outside parentheses and double quotes, as rules with conditions need it. */
export function splitFields(text: string): string[] {
  const fields: string[] = [];
  let start = 0;
  let depth = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at];
    if (char === '"') quoted = !quoted;
    else if (quoted) continue;
    else if (char === '(') depth += 1;
    else if (char === ')') depth -= 1;
    else if (char === ',' && depth <= 0) {
      fields.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  fields.push(text.slice(start).trim());
  return fields;
}
