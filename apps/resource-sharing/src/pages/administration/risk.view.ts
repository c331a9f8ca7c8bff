import type { AppError } from '@gatehouse/platform';
import { RISK_FIELDS, type RiskFieldName, type RiskValues } from '../../risk/risk-settings.js';
import type { RiskState } from '../../risk/risk-states.service.js';
import type { Visitor } from '../../wire/visitor.js';
import type { FormValues } from '../parts/form-values.js';
import { actionForm, field, form, submit } from '../parts/forms.js';
import { Html, markup } from '../parts/markup.js';
import { badge, card, dataTable } from '../parts/tables.js';
import { timesFor } from '../parts/times.js';
import { sections } from './sections.js';

/** The form, in the order in which the tiers follow each other. */
const GROUPS = {
  limits: ['unlocks_per_minute', 'unlocks_per_hour', 'watched_unlocks_per_minute'],
  incidents: [
    'hits',
    'hits_window_minutes',
    'paid_unlocks_per_hour',
    'risk_applications',
    'applications_window_seconds',
    'unseen_percent',
    'unseen_sample',
  ],
  pauses: [
    'pause_1_seconds',
    'pause_2_minutes',
    'pause_3_hours',
    'again_window_hours',
    'repeat_window_days',
    'clean_time_hours',
  ],
} as const satisfies Record<string, readonly RiskFieldName[]>;

interface RiskPageState {
  /** Users above tier 0 or waiting for review. */
  readonly raised: readonly RiskState[];
  readonly names: ReadonlyMap<number, string>;
  readonly settings: RiskValues;
  readonly values?: FormValues | undefined;
  readonly problem?: AppError | undefined;
}

export function riskPage(visitor: Visitor, state: RiskPageState): Html {
  const { words } = visitor;
  return markup`${sections(visitor, '/admin/risk')}
<p>${words.text('risk.intro')}</p>
${raisedUsers(visitor, state)}
${card(words.text('risk.settings'), settingsForm(visitor, state))}`;
}

function raisedUsers(visitor: Visitor, { raised, names }: RiskPageState): Html {
  const { words } = visitor;
  const time = timesFor(visitor);
  const rows = raised.map(({ userId, tier, changedAt, pausedUntil, needsReview }) => [
    markup`<a href="/admin/users/${userId}">${names.get(userId) ?? userId}</a>`,
    tier,
    time(changedAt),
    time(pausedUntil, ''),
    needsReview ? badge('fair', words.text('common.yes')) : '',
    actionForm(visitor, `/admin/risk/${userId}/reset`, words.text('risk.reset'), {
      style: 'danger',
      about: names.get(userId) ?? '',
    }),
  ]);
  const columns = [
    words.text('risk.user'),
    words.text('risk.tier'),
    words.text('risk.since'),
    words.text('risk.pausedUntil'),
    words.text('risk.needsReview'),
    '',
  ];
  return dataTable(words.text('risk.caption'), columns, rows, words.text('risk.none'));
}

function settingsForm(visitor: Visitor, { settings, values, problem }: RiskPageState): Html {
  const { words } = visitor;
  const input = (name: RiskFieldName): Html =>
    field(visitor, {
      name,
      type: 'number',
      hint: words.text('risk.usual', { value: RISK_FIELDS[name].usual }),
      value: values?.text(name) ?? settings[name],
      problem,
    });
  const groups = (Object.keys(GROUPS) as (keyof typeof GROUPS)[]).map(
    (group) => markup`<fieldset><legend>${words.text(`risk.groups.${group}`)}</legend>
<p class="hint">${words.text(`risk.hints.${group}`)}</p>
<div class="form-row">${GROUPS[group].map(input)}</div></fieldset>`,
  );
  return form(visitor, '/admin/risk/settings', [groups, submit(words.text('common.save'))]);
}
