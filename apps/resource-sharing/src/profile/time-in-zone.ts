const formats = new Map<string, Intl.DateTimeFormat>();

/** ISO 8601 to the second with the offset of the zone, such as `2025-12-31T23:59:59+08:00`. */
export function formatInZone(date: Date, timeZone: string): string {
  const parts = new Map(
    formatOf(timeZone)
      .formatToParts(date)
      .map(({ type, value }) => [type, value]),
  );
  const at = (type: Intl.DateTimeFormatPartTypes): string => parts.get(type) ?? '';
  const offset = at('timeZoneName').replace('GMT', '') || '+00:00';
  return `${at('year')}-${at('month')}-${at('day')}T${at('hour')}:${at('minute')}:${at('second')}${offset}`;
}

/** Creating one costs more than using it a hundred times; there is one for each zone in the settings. */
function formatOf(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
      timeZoneName: 'longOffset',
    });
    formats.set(timeZone, format);
  }
  return format;
}
