import type { RuntimeLogView } from '@gatehouse/contracts';
import { t } from '../messages/index.js';

export function processOf({ source, context }: RuntimeLogView): string {
  return `${source}${context === null ? '' : ` · ${context}`}`;
}

/** What a line says beside its message, as `name=value`. */
export function fieldsOf({ fields }: RuntimeLogView): string {
  const words = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`,
  );
  return words.join(' ');
}

export function levelName(level: RuntimeLogView['level']): string {
  return t(`settingsPage.choices.${level}`);
}
