import type { FieldProblem } from '../api/api-error.js';

/** Sorts refusals to the fields of a form; `members[3]` and `filter.name` belong to `members` and `filter`. */
export function splitProblems(
  details: readonly FieldProblem[],
  fields: readonly string[],
): { byField: ReadonlyMap<string, string>; rest: string[] } {
  const byField = new Map<string, string>();
  const rest: string[] = [];
  for (const { field, message } of details) {
    const own = fields.includes(field) ? field : (/^[^.[]+/.exec(field)?.[0] ?? '');
    if (!fields.includes(own)) rest.push(`${field}: ${message}`);
    else if (!byField.has(own)) byField.set(own, sentence(field, message));
  }
  return { byField, rest };
}

/** The service says `name must be …`; beside the field its name is not needed again. */
function sentence(field: string, message: string): string {
  const text = message.startsWith(`${field} `) ? message.slice(field.length + 1) : message;
  return text.charAt(0).toUpperCase() + text.slice(1);
}
