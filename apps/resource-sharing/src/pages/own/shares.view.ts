import type { AppError } from '@gatehouse/platform';
import type { ShareRow } from '../../shares/share-rows.js';
import { actionForm, checkbox, field, form, select, submit, textArea, type FieldName } from '../parts/forms.js';
import type { FormValues } from '../parts/form-values.js';
import { Html, markup, type Content } from '../parts/markup.js';
import { priceText, storageName } from '../parts/share-words.js';
import { card, dataTable, pager } from '../parts/tables.js';
import { timesFor } from '../parts/times.js';
import type { Visitor } from '../../wire/visitor.js';

const MEDIA_TYPES = ['movie', 'tv'] as const;

interface State {
  readonly rows: readonly ShareRow[];
  readonly page: number;
  readonly hasMore: boolean;
  readonly values?: FormValues;
  readonly problem?: AppError | undefined;
}

export function sharesPage(visitor: Visitor, state: State): Html {
  const { words } = visitor;
  const { rows, page, hasMore, values, problem } = state;
  const time = timesFor(visitor);
  const cells = rows.map((row) => [
    [
      markup`<a href="/shares/${row.slug}">${shareName(row)}</a>`,
      markup`<span class="second">${words.text(`shares.${row.media_type}`)} ${row.tmdb_id}</span>`,
    ],
    storageName(visitor, row.kind),
    priceText(visitor, row.unlock_points ?? 0),
    row.unlocked_users_count,
    time(row.shared_at),
    actionForm(visitor, `/shares/${row.slug}/delete`, words.text('common.delete'), {
      style: 'danger',
      about: shareName(row),
    }),
  ]);
  const columns = [
    words.text('common.title'),
    words.text('share.service'),
    words.text('shares.price'),
    words.text('shares.unlocks'),
    words.text('common.created'),
    '',
  ];
  return markup`${card(words.text('shares.caption'), [
    dataTable(words.text('shares.caption'), columns, cells, words.text('shares.none')),
    pager(visitor, '/shares', page, hasMore),
  ])}
${card(words.text('shares.createTitle'), form(visitor, '/shares', shareFields(visitor, values, problem)))}`;
}

function shareFields(visitor: Visitor, values: FormValues | undefined, problem: AppError | undefined): Content {
  const { words } = visitor;
  const text = (name: FieldName): { name: FieldName; value: string | undefined; problem: AppError | undefined } => ({
    name,
    value: values?.text(name),
    problem,
  });
  return [
    field(visitor, { ...text('url'), hint: words.text('shares.urlHint') }),
    field(visitor, { ...text('access_code'), optional: true }),
    select(visitor, {
      ...text('media_type'),
      choices: MEDIA_TYPES.map((value) => ({ value, label: words.text(`shares.${value}`) })),
      value: values?.text('media_type') ?? 'movie',
    }),
    field(visitor, { ...text('tmdb_id'), hint: words.text('shares.tmdbHint') }),
    field(visitor, { ...text('title'), optional: true }),
    field(visitor, {
      ...text('unlock_points'),
      hint: words.text('shares.priceHint'),
      type: 'number',
      optional: true,
    }),
    textArea(visitor, { ...text('remark'), optional: true }),
    checkbox(visitor, { name: 'is_anonymous', checked: values?.isChecked('is_anonymous') ?? false }),
    submit(words.text('shares.create')),
  ];
}

export function shareName({ title, media_title: media, slug }: ShareRow): string {
  return title ?? media ?? slug;
}
