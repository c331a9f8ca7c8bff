/** The remarks on rules that texts carry in comments, so that other programs can still read the rules. */

const NOTE = /^# note: (.*)$/;
const DISABLED = /^# disabled: (.*)$/;

/** A comment line above the rule. */
export function noteLine(note: string): string {
  return `# note: ${/^$|^"|\p{Cc}|^\s|\s$/u.test(note) ? JSON.stringify(note) : note}`;
}

export function disabledLine(rule: string): string {
  return `# disabled: ${rule}`;
}

/** The rule as a line of a text, in quotation marks if it contains what would begin a comment. */
export function textLine(rule: string): string {
  return /\s(#|\/\/)/.test(rule) ? JSON.stringify(rule) : rule;
}

/** The reverse of `textLine`; a comment behind the rule is cut off. */
export function ruleIn(line: string): string {
  const bare = line.replace(/^-\s+/, '');
  return bare.startsWith('"') ? unquoted(bare) : bare.replace(/\s(#|\/\/).*$/, '');
}

export function noteIn(comment: string): string | undefined {
  const text = NOTE.exec(comment)?.[1];
  return text === undefined ? undefined : unquoted(text);
}

function unquoted(text: string): string {
  if (!text.startsWith('"')) return text;
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'string' ? parsed : text;
  } catch {
    return text; // a user's text that begins with a quotation mark
  }
}

export function disabledIn(comment: string): string | undefined {
  return DISABLED.exec(comment)?.[1];
}
