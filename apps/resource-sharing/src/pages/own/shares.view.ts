import type { AppError } from '@gatehouse/platform';
import type { ShareRow } from '../../shares/share-rows.js';
import { actionForm, checkbox, field, form, select, submit, textArea } from '../parts/forms.js';
import type { FormValues } from '../parts/form-values.js';
import { Html, markup, type Content } from '../parts/markup.js';
import { dataTable, pager } from '../parts/tables.js';
import type { Visitor } from '../../wire/visitor.js';

interface State {
  readonly rows: readonly ShareRow[];
  readonly page: number;
  readonly hasMore: boolean;
  readonly values?: FormValues;
  readonly problem?: AppError | undefined;
}

const TYPES = [
  { value: 'movie', label: 'Film' },
  { value: 'tv', label: 'Series' },
];

export function sharesPage(visitor: Visitor, { rows, page, hasMore, values, problem }: State): Html {
  const cells = rows.map((row) => [
    [shareName(row), markup`<span class="hint">${row.media_type} ${row.tmdb_id}</span>`],
    row.kind,
    row.unlock_points ?? 'free',
    row.unlocked_users_count,
    row.created_at,
    actionForm(visitor, `/shares/${row.slug}/delete`, 'Take back', { style: 'danger', about: shareName(row) }),
  ]);
  return markup`${dataTable('Your shares', ['Title', 'Kind', 'Points', 'Unlocked', 'Since', ''], cells, 'You share nothing.')}
${pager('/shares', page, hasMore)}
<h2>Share a link</h2>
${form(visitor, '/shares', shareFields(values, problem))}`;
}

function shareFields(values: FormValues | undefined, problem: AppError | undefined): Content {
  const text = (name: string): string | undefined => values?.text(name);
  return [
    field({ name: 'url', label: 'Link', hint: 'With its access code, if it has one.', value: text('url'), problem }),
    field({ name: 'access_code', label: 'Access code', optional: true, value: text('access_code'), problem }),
    select({ name: 'media_type', label: 'Of a', choices: TYPES, value: text('media_type') ?? 'movie', problem }),
    field({
      name: 'tmdb_id',
      label: 'Number in the movie database (TMDB)',
      value: text('tmdb_id'),
      problem,
    }),
    field({ name: 'title', label: 'Title', optional: true, value: text('title'), problem }),
    field({
      name: 'unlock_points',
      label: 'Points to unlock it',
      hint: 'Empty or 0: free.',
      type: 'number',
      optional: true,
      value: text('unlock_points'),
      problem,
    }),
    textArea({ name: 'remark', label: 'Remark', optional: true, value: text('remark'), problem }),
    checkbox({
      name: 'is_anonymous',
      label: 'Do not show my name',
      checked: values?.isChecked('is_anonymous') ?? false,
    }),
    submit('Share'),
  ];
}

export function shareName({ title, media_title: media, slug }: ShareRow): string {
  return title ?? media ?? slug;
}
