/** Local time, sortable by eye: `2026-05-01 14:03:09`. */
export function formatTime(time: string | null | undefined): string {
  if (time === null || time === undefined) return '–';
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return time;
  return `${formatDay(date)} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

export function formatDay(date: Date): string {
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** Two digits at least. */
export function two(value: number): string {
  return String(value).padStart(2, '0');
}
