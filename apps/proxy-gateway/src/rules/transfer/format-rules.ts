import { rawOf } from '../rule-definition.js';
import type { ExistingRule } from './plan-import.js';
import { disabledLine, noteLine, textLine } from './rule-remarks.js';

/** One rule of the JSON export, in the form that `POST /rules` and the import accept. */
export interface ExportedRule {
  type: string;
  payload: string;
  target: string;
  no_resolve: boolean;
  src: boolean;
  enabled: boolean;
  priority: number;
  /** Only where it is true. */
  after_profile?: boolean;
  note: string | null;
}

/** @param rules with targets as users read them. */
export function formatJson(rules: readonly ExistingRule[], exportedAt: Date): string {
  const list = rules.map(
    ({ type, payload, target, noResolve, src, enabled, priority, note, afterProfile }): ExportedRule => ({
      type,
      payload,
      target,
      no_resolve: noResolve,
      src,
      enabled,
      priority,
      ...(afterProfile && { after_profile: true }),
      note,
    }),
  );
  return `${JSON.stringify({ exported_at: exportedAt.toISOString(), total: list.length, rules: list }, null, 2)}\n`;
}

export function formatText(rules: readonly ExistingRule[], exportedAt: Date): string {
  const head = `# ${rules.length} rules, ${exportedAt.toISOString()}`;
  return `${[head, ...rules.flatMap((rule) => remarked(rule, textLine(rawOf(rule))))].join('\n')}\n`;
}

/** The `rules:` of a mihomo configuration. */
export function formatClash(rules: readonly ExistingRule[], exportedAt: Date): string {
  const head = `# ${rules.length} rules, ${exportedAt.toISOString()}`;
  // YAML reads an empty block as null.
  const key = rules.some(({ enabled }) => enabled) ? 'rules:' : 'rules: []';
  const lines = rules.flatMap((rule) =>
    remarked(rule, rule.enabled ? `- ${scalar(rawOf(rule))}` : textLine(rawOf(rule))),
  );
  return `${[head, key, ...lines.map((line) => `  ${line}`)].join('\n')}\n`;
}

function remarked({ note, enabled }: ExistingRule, line: string): string[] {
  return [...(note === null ? [] : [noteLine(note)]), enabled ? line : disabledLine(line)];
}

/** Unquoted if YAML allows it. JSON strings are valid double-quoted YAML. */
function scalar(line: string): string {
  return /^[A-Za-z](?:[^\p{Cc}:#"'\u2028\u2029\uFEFF]*[^\p{Cc}:#"'\s\u2028\u2029\uFEFF])?$/u.test(line)
    ? line
    : JSON.stringify(line);
}
