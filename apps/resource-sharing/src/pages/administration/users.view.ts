import type { AppError } from '@gatehouse/platform';
import { PERMISSIONS } from '../../administration/administration.dto.js';
import type { KnownUser } from '../../administration/user-administration.js';
import type { LedgerLine } from '../../points/points-ledger.js';
import { actionForm, checkboxes, field, form, hiddenField, select, submit } from '../parts/forms.js';
import { Html, markup } from '../parts/markup.js';
import { dataTable, facts, pager } from '../parts/tables.js';
import { premiumText, timeIn } from '../parts/times.js';
import type { Member } from '../../wire/visitor.js';
import { searchForm, sections } from './sections.js';

export type UserForm = 'rights' | 'points';

interface ListState {
  readonly users: readonly KnownUser[];
  readonly search: string;
  readonly page: number;
  readonly hasMore: boolean;
  readonly timeZone: string;
}

interface UserFacts {
  readonly user: KnownUser;
  readonly ledger: readonly LedgerLine[];
  readonly timeZone: string;
  readonly grantRef: string;
}

interface Refused {
  readonly form: UserForm | undefined;
  readonly problem: AppError | undefined;
}

export function userList({ users, search, page, hasMore, timeZone }: ListState): Html {
  const time = timeIn(timeZone);
  const rows = users.map((user) => [
    markup`<a href="/admin/users/${user.id}">${user.username}</a>`,
    user.nickname,
    user.email,
    user.role,
    premiumText(user.premiumUntil, time),
    user.points,
    user.disabledAt === null ? 'active' : 'disabled',
  ]);
  const columns = ['Name', 'Shown as', 'Email', 'Role', 'Premium', 'Points', 'State'];
  const path = search === '' ? '/admin/users' : `/admin/users?search=${encodeURIComponent(search)}`;
  return markup`${sections('/admin/users')}
${searchForm('/admin/users', 'A part of the names or of the email address', search)}
${dataTable('Users', columns, rows, 'Nobody is called so.')}
${pager(path, page, hasMore)}`;
}

export function userPage(visitor: Member, known: UserFacts, refused: Refused): Html {
  const { user, ledger, timeZone } = known;
  const time = timeIn(timeZone);
  const movements = ledger.map((line) => [time(line.at), line.kind, line.amount, line.balanceAfter, line.note]);
  return markup`${sections('/admin/users')}
${facts([
  ['Number', user.id],
  ['Shown as', user.nickname],
  ['Email', user.email],
  ['Role', user.role],
  ['Premium', premiumText(user.premiumUntil, time)],
  ['Points', user.points],
  ['Member since', time(user.createdAt)],
  ['Last active', time(user.lastActiveAt)],
  ['State', user.disabledAt === null ? 'active' : ['disabled since ', time(user.disabledAt)]],
])}
<h2>Rights</h2>
${rightsForm(visitor, user, refused.form === 'rights' ? refused.problem : undefined)}
<h2>Points</h2>
${pointsForm(visitor, known, refused.form === 'points' ? refused.problem : undefined)}
${dataTable('Last movements', ['When', 'What', 'Points', 'After it', 'Note'], movements, 'No points were moved yet.')}
<h2>${user.disabledAt === null ? 'Disable' : 'Enable'}</h2>
${disableForm(visitor, user)}
<p><a href="/admin/events?user_id=${user.id}">What happened</a></p>`;
}

function rightsForm(visitor: Member, user: KnownUser, problem: AppError | undefined): Html {
  return form(visitor, `/admin/users/${user.id}`, [
    select({
      name: 'premium',
      label: 'Premium',
      choices: [
        { value: 'keep', label: 'as it is' },
        { value: 'until', label: 'until the day below' },
        { value: 'forever', label: 'for ever' },
        { value: 'none', label: 'none' },
      ],
      value: 'keep',
    }),
    field({ name: 'premium_until', label: 'Premium until', type: 'date', optional: true, problem }),
    checkboxes({
      name: 'permissions',
      label: 'Permissions',
      choices: PERMISSIONS.map((value) => ({ value, label: value })),
      checked: user.permissions,
      problem,
    }),
    select({
      name: 'role',
      label: 'Role',
      choices: [
        { value: 'member', label: 'member' },
        { value: 'administrator', label: 'administrator' },
      ],
      value: user.role,
      problem,
    }),
    submit('Change the rights'),
  ]);
}

function pointsForm(visitor: Member, { user, grantRef }: UserFacts, problem: AppError | undefined): Html {
  return form(visitor, `/admin/users/${user.id}/points`, [
    hiddenField('ref', grantRef),
    field({
      name: 'points',
      label: 'Points to give',
      hint: 'Fewer than 0 are taken away.',
      type: 'number',
      problem,
    }),
    field({ name: 'note', label: 'Note', hint: 'The user sees it.', optional: true, problem }),
    submit('Give the points'),
  ]);
}

function disableForm(visitor: Member, { id, username, disabledAt }: KnownUser): Html {
  const isDisabled = disabledAt !== null;
  return actionForm(visitor, `/admin/users/${id}/disabled`, isDisabled ? 'Enable the account' : 'Disable the account', {
    style: isDisabled ? 'plain' : 'danger',
    fields: { disabled: String(!isDisabled) },
    about: username,
  });
}
