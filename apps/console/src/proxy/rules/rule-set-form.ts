import type { RuleSetBehavior, RuleSetDetail, RuleSetFormat, RuleSetType } from '@gatehouse/contracts';
import { splitLines } from '../../shared/format/links.js';

export interface RuleSetForm {
  name: string;
  type: RuleSetType;
  behavior: RuleSetBehavior;
  format: RuleSetFormat;
  url: string;
  path: string;
  entries: string;
  target: string;
  enabled: boolean;
  allow_private: boolean;
}

export function formOf(set: RuleSetDetail | null): RuleSetForm {
  return {
    name: set?.name ?? '',
    type: set?.type ?? 'http',
    behavior: set?.behavior ?? 'domain',
    format: set?.format ?? 'yaml',
    url: set?.url ?? '',
    path: set?.path ?? '',
    entries: set?.type === 'inline' ? set.entries.join('\n') : '',
    target: set?.target ?? '',
    enabled: set?.enabled ?? true,
    allow_private: set?.allow_private ?? false,
  };
}

/** The body for a new set or a change; the type is for life, and each type has its own source. */
export function toBody(form: RuleSetForm, isNew: boolean): Record<string, unknown> {
  const { name, type, behavior, format, enabled, allow_private } = form;
  return {
    name,
    ...(isNew ? { type } : {}),
    behavior,
    enabled,
    target: form.target.trim() === '' ? null : form.target.trim(),
    ...(type === 'http' ? { url: form.url, format, allow_private } : {}),
    ...(type === 'file' ? { path: form.path, format } : {}),
    ...(type === 'inline'
      ? { entries: behavior === 'classical' ? linesOf(form.entries) : splitLines(form.entries) }
      : {}),
  };
}

/** Rule lines hold commas. */
function linesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
