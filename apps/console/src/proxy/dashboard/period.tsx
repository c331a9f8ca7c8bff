import { Segments } from '../../shared/components/segments.js';
import { formatTime } from '../../shared/format/times.js';
import { t } from '../messages/index.js';

const HOUR = 3_600_000;

export const PERIODS = [
  { id: 'day', label: t('dashboard.periods.day'), hours: 24 },
  { id: 'week', label: t('dashboard.periods.week'), hours: 168 },
  { id: 'month', label: t('dashboard.periods.month'), hours: 720 },
  { id: 'quarter', label: t('dashboard.periods.quarter'), hours: 2_160 },
] as const;
export type PeriodId = (typeof PERIODS)[number]['id'];

/** The one that an address names, or the shortest. */
export function findPeriod(name: string): PeriodId {
  return (PERIODS.find(({ id }) => id === name) ?? PERIODS[0]).id;
}

/** Whole hours up to now, the one that runs included. */
export function periodQuery(id: PeriodId, now: number): { from?: string } {
  const { hours } = PERIODS.find((period) => period.id === id)!;
  const begin = Math.floor(now / HOUR) * HOUR - (hours - 1) * HOUR;
  return { from: new Date(begin).toISOString() };
}

interface PeriodChoiceProps {
  period: PeriodId;
  from: string;
  to: string;
  onChange: (period: PeriodId) => void;
}

export function PeriodChoice({ period, from, to, onChange }: PeriodChoiceProps) {
  return (
    <div class="page-head">
      <p class="muted">{t('dashboard.range', { from: formatTime(from), to: formatTime(to) })}</p>
      <Segments label={t('dashboard.period')} choices={PERIODS} current={period} onChange={({ id }) => onChange(id)} />
    </div>
  );
}
