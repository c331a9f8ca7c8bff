import type { RuntimeLogView } from '@gatehouse/contracts';

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
