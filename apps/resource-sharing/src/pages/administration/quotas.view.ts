import type { AppError } from '@gatehouse/platform';
import { toQuotaProfileView } from '../../administration/limits.view.js';
import { FIXED_PROFILES, type QuotaProfile } from '../../quota/quota-profiles.js';
import type { Visitor } from '../../wire/visitor.js';
import type { FormValues } from '../parts/form-values.js';
import { actionForm, field, form, submit, textArea } from '../parts/forms.js';
import { Html, markup, type Content } from '../parts/markup.js';
import { card, dataTable } from '../parts/tables.js';
import { sections } from './sections.js';

/** Single limits of a profile, as the API and the labels of the site name them. */
export const LIMIT_FIELDS = [
  'app_per_minute',
  'app_burst_per_second',
  'app_address_per_minute',
  'user_per_minute',
  'app_per_day',
  'user_per_day',
  'addresses_per_day',
] as const;

/** Limits by scope and by operation, one per line. */
export const LIMIT_LISTS = ['group_per_minute', 'endpoint_per_day'] as const;

export interface QuotaForm {
  /** The profile to change; undefined: a new one. */
  readonly profile?: QuotaProfile | undefined;
  readonly values?: FormValues | undefined;
  readonly problem?: AppError | undefined;
}

export function quotasPage(visitor: Visitor, profiles: readonly QuotaProfile[], state: QuotaForm): Html {
  const { words } = visitor;
  const rows = profiles.map((profile) => rowOf(visitor, profile));
  const columns = [
    words.text('fields.name'),
    words.text('fields.app_per_minute'),
    words.text('fields.user_per_minute'),
    words.text('fields.app_per_day'),
    words.text('fields.user_per_day'),
    '',
  ];
  const title = state.profile === undefined ? words.text('quotas.add') : words.text('quotas.change');
  return markup`${sections(visitor, '/admin/quotas')}
<p>${words.text('quotas.intro')}</p>
${dataTable(words.text('admin.quotas'), columns, rows, '')}
${card(title, form(visitor, '/admin/quotas', fieldsOf(visitor, state)))}`;
}

function rowOf(visitor: Visitor, { name, ...limits }: QuotaProfile): Content[] {
  const { words } = visitor;
  const amount = (limit: number | null): Content => limit ?? words.text('quotas.unlimited');
  const isFixed = (FIXED_PROFILES as readonly string[]).includes(name);
  return [
    markup`<a href="/admin/quotas?profile=${encodeURIComponent(name)}">${name}</a>`,
    amount(limits.appPerMinute),
    amount(limits.userPerMinute),
    amount(limits.appPerDay),
    amount(limits.userPerDay),
    !isFixed &&
      actionForm(visitor, `/admin/quotas/${name}/delete`, words.text('common.delete'), {
        style: 'danger',
        about: name,
      }),
  ];
}

function fieldsOf(visitor: Visitor, { profile, values, problem }: QuotaForm): Content[] {
  const { words } = visitor;
  const known = profile === undefined ? undefined : toQuotaProfileView(profile);
  const lists = { group_per_minute: profile?.groupPerMinute, endpoint_per_day: profile?.endpointPerDay };
  return [
    field(visitor, {
      name: 'name',
      hint: words.text('quotas.nameHint'),
      value: values?.text('name') ?? known?.name,
      problem,
    }),
    markup`<p class="hint">${words.text('quotas.emptyHint')}</p>`,
    markup`<div class="form-row">${LIMIT_FIELDS.map((name) =>
      field(visitor, {
        name,
        type: 'number',
        optional: true,
        value: values?.text(name) ?? known?.[name],
        problem,
      }),
    )}</div>`,
    ...LIMIT_LISTS.map((name) =>
      textArea(visitor, {
        name,
        optional: true,
        hint: words.text(`quotas.${name}`),
        value: values?.text(name) ?? linesOf(lists[name] ?? {}),
        problem,
      }),
    ),
    submit(words.text('common.save')),
  ];
}

function linesOf(limits: Readonly<Record<string, number | undefined>>): string {
  return Object.entries(limits)
    .map(([name, limit]) => `${name} ${limit ?? ''}`)
    .join('\n');
}
