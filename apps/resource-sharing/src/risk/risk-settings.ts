import { pgPool, UnitOfWork } from '@gatehouse/persistence';
import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { recordEvent } from '../audit/record-event.js';

interface RiskField {
  /** Column of the table risk_settings. */
  readonly column: string;
  /** Seconds of one unit, for columns that are intervals; absent: a number. */
  readonly seconds?: number;
  /** Scale: 100 for a percentage. */
  readonly parts?: number;
  readonly min: number;
  readonly max: number;
  /** The values of a new installation. */
  readonly usual: number;
}

/** The meaning of the tiers, by the names in the form. The table has the same bounds. */
export const RISK_FIELDS = {
  unlocks_per_minute: { column: 'unlocks_per_minute', min: 1, max: 1_000_000, usual: 10 },
  unlocks_per_hour: { column: 'unlocks_per_hour', min: 1, max: 1_000_000, usual: 100 },
  watched_unlocks_per_minute: { column: 'watched_unlocks_per_minute', min: 1, max: 1_000_000, usual: 2 },
  hits: { column: 'hits', min: 1, max: 100, usual: 3 },
  hits_window_minutes: { column: 'hits_window', seconds: 60, min: 1, max: 1_440, usual: 10 },
  paid_unlocks_per_hour: { column: 'paid_unlocks_per_hour', min: 1, max: 1_000, usual: 30 },
  risk_applications: { column: 'applications', min: 2, max: 100, usual: 3 },
  applications_window_seconds: { column: 'applications_window', seconds: 1, min: 1, max: 86_400, usual: 60 },
  unseen_percent: { column: 'unseen_share', parts: 100, min: 1, max: 100, usual: 80 },
  unseen_sample: { column: 'unseen_sample', min: 1, max: 1_000, usual: 50 },
  again_window_hours: { column: 'again_window', seconds: 3_600, min: 1, max: 8_760, usual: 24 },
  repeat_window_days: { column: 'repeat_window', seconds: 86_400, min: 1, max: 365, usual: 7 },
  pause_1_seconds: { column: 'pause_1', seconds: 1, min: 1, max: 86_400, usual: 60 },
  pause_2_minutes: { column: 'pause_2', seconds: 60, min: 1, max: 10_080, usual: 15 },
  pause_3_hours: { column: 'pause_3', seconds: 3_600, min: 1, max: 8_760, usual: 24 },
  clean_time_hours: { column: 'clean_time', seconds: 3_600, min: 1, max: 8_760, usual: 24 },
} as const satisfies Record<string, RiskField>;

export type RiskFieldName = keyof typeof RISK_FIELDS;
export type RiskValues = Readonly<Record<RiskFieldName, number>>;

const FIELDS = Object.entries(RISK_FIELDS) as [RiskFieldName, RiskField][];

const READ = `SELECT ${FIELDS.map(([name, { column, seconds, parts = 1 }]) =>
  seconds === undefined
    ? `(${column} * ${parts})::integer AS ${name}`
    : `round(extract(epoch FROM ${column}) / ${seconds})::integer AS ${name}`,
).join(', ')} FROM risk_settings`;

const WRITE = `UPDATE risk_settings SET ${FIELDS.map(([, { column, seconds, parts = 1 }], index) =>
  seconds === undefined
    ? `${column} = $${index + 1}::numeric / ${parts}`
    : `${column} = make_interval(secs => $${index + 1}::double precision * ${seconds})`,
).join(', ')}`;

/** When users' unlocks are slowed down and paused. A change applies to the next unlock, on every replica. */
@Injectable()
export class RiskSettings {
  constructor(
    private readonly dataSource: DataSource,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async read(): Promise<RiskValues> {
    const { rows } = await pgPool(this.dataSource).query<RiskValues>(READ);
    return rows[0]!;
  }

  /** @param values within the bounds of RISK_FIELDS */
  async save(values: RiskValues, actorId: number): Promise<void> {
    await this.unitOfWork.run(async (tx) => {
      const [before] = (await tx.query(`${READ} FOR UPDATE`)) as [RiskValues];
      const changed = FIELDS.filter(([name]) => before[name] !== values[name]);
      if (changed.length === 0) return;
      await tx.query(
        WRITE,
        FIELDS.map(([name]) => values[name]),
      );
      const details = Object.fromEntries(changed.map(([name]) => [name, `${before[name]} → ${values[name]}`]));
      await recordEvent(tx, { type: 'risk.settings_changed', actorId, details });
    });
  }
}
