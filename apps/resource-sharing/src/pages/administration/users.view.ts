import type { AppError } from '@gatehouse/platform';
import { PERMISSIONS } from '../../administration/administration.dto.js';
import type { KnownUser } from '../../administration/user-administration.js';
import type { LedgerLine } from '../../points/points-ledger.js';
import { actionForm, checkboxes, field, form, hiddenField, select, submit, searchForm } from '../parts/forms.js';
import { Html, markup, type Content } from '../parts/markup.js';
import { permissionName } from '../parts/permission-words.js';
import { badge, card, dataTable, facts, pager } from '../parts/tables.js';
import { premiumText, timesFor } from '../parts/times.js';
import type { Member, Visitor } from '../../wire/visitor.js';
import { sections } from './sections.js';

export type UserForm = 'rights' | 'points';

interface ListState {
  readonly users: readonly KnownUser[];
  readonly search: string;
  readonly page: number;
  readonly hasMore: boolean;
}

interface UserFacts {
  readonly user: KnownUser;
  readonly ledger: readonly LedgerLine[];
  readonly grantRef: string;
}

interface Refused {
  readonly form: UserForm | undefined;
  readonly problem: AppError | undefined;
}

export function userList(visitor: Visitor, { users, search, page, hasMore }: ListState): Html {
  const { words } = visitor;
  const rows = users.map((user) => [
    markup`<a href="/admin/users/${user.id}">${user.username}</a>`,
    user.nickname,
    user.email,
    words.text(`users.roles.${user.role}`),
    premiumText(visitor, user.premiumUntil),
    user.points,
    user.disabledAt === null ? badge('good', words.text('users.active')) : badge('bad', words.text('users.disabled')),
  ]);
  const columns = [
    words.text('fields.username'),
    words.text('fields.nickname'),
    words.text('common.email'),
    words.text('users.role'),
    words.text('fields.premium'),
    words.text('common.points'),
    words.text('common.status'),
  ];
  const path = search === '' ? '/admin/users' : `/admin/users?search=${encodeURIComponent(search)}`;
  return markup`${sections(visitor, '/admin/users')}
${searchForm(visitor, '/admin/users', words.text('users.search'), search)}
${dataTable(words.text('admin.users'), columns, rows, words.text('users.none'))}
${pager(visitor, path, page, hasMore)}`;
}

export function userPage(visitor: Member, known: UserFacts, refused: Refused): Html {
  const { words } = visitor;
  const { user } = known;
  const refusalIn = (name: UserForm): AppError | undefined => (refused.form === name ? refused.problem : undefined);
  return markup`${sections(visitor, '/admin/users')}
${card(words.text('account.overview'), userFacts(visitor, user))}
<div class="columns">
${card(words.text('users.permissions'), permissionsForm(visitor, user, refusalIn('rights')))}
${card(words.text('users.givePoints'), pointsForm(visitor, known, refusalIn('points')))}
</div>
${card(words.text('account.pointsHistory'), movements(visitor, known))}
<p class="actions">${disableForm(visitor, user)}${user.hasSecondFactor && user.id !== visitor.account.id && resetForm(visitor, user)}
<a class="button" href="/admin/events?user_id=${user.id}">${words.text('users.events')}</a></p>`;
}

function userFacts(visitor: Member, user: KnownUser): Html {
  const { words } = visitor;
  const time = timesFor(visitor);
  return facts([
    [words.text('users.id'), user.id],
    [words.text('fields.nickname'), user.nickname],
    [words.text('common.email'), user.email],
    [words.text('users.role'), words.text(`users.roles.${user.role}`)],
    [words.text('fields.premium'), premiumText(visitor, user.premiumUntil)],
    [words.text('common.points'), user.points],
    [words.text('account.memberSince'), time(user.createdAt)],
    [words.text('users.lastActive'), time(user.lastActiveAt)],
    [words.text('factor.title'), words.text(user.hasSecondFactor ? 'factor.on' : 'factor.off')],
    [
      words.text('common.status'),
      user.disabledAt === null
        ? words.text('users.active')
        : words.rich<Content, 'users.disabledSince'>('users.disabledSince', { time: time(user.disabledAt) }),
    ],
  ]);
}

function movements(visitor: Member, { ledger }: UserFacts): Html {
  const { words } = visitor;
  const time = timesFor(visitor);
  const rows = ledger.map((line) => [
    time(line.at),
    words.text(`account.kinds.${line.kind}`),
    line.amount,
    line.balanceAfter,
    line.note,
  ]);
  const columns = [
    words.text('common.time'),
    words.text('common.type'),
    words.text('account.change'),
    words.text('account.balance'),
    words.text('account.note'),
  ];
  return dataTable(words.text('account.pointsHistory'), columns, rows, words.text('account.noPoints'));
}

const PREMIUM_CHOICES = ['keep', 'until', 'forever', 'none'] as const;
const ROLES = ['member', 'administrator'] as const;

function permissionsForm(visitor: Member, user: KnownUser, problem: AppError | undefined): Html {
  const { words } = visitor;
  return form(visitor, `/admin/users/${user.id}`, [
    select(visitor, {
      name: 'premium',
      choices: PREMIUM_CHOICES.map((value) => ({ value, label: words.text(`users.premiumChoices.${value}`) })),
      value: 'keep',
    }),
    field(visitor, { name: 'premium_until', type: 'date', optional: true, problem }),
    checkboxes(visitor, {
      name: 'permissions',
      choices: PERMISSIONS.map((value) => ({ value, label: permissionName(visitor, value) })),
      checked: user.permissions,
      problem,
    }),
    select(visitor, {
      name: 'role',
      choices: ROLES.map((value) => ({ value, label: words.text(`users.roles.${value}`) })),
      value: user.role,
      problem,
    }),
    submit(words.text('users.savePermissions')),
  ]);
}

function pointsForm(visitor: Member, { user, grantRef }: UserFacts, problem: AppError | undefined): Html {
  const { words } = visitor;
  return form(visitor, `/admin/users/${user.id}/points`, [
    hiddenField('ref', grantRef),
    field(visitor, { name: 'points', hint: words.text('users.pointsHint'), type: 'number', problem }),
    field(visitor, { name: 'note', hint: words.text('users.noteHint'), optional: true, problem }),
    submit(words.text('users.givePoints')),
  ]);
}

/** For a user who lost the authenticator and the recovery codes. */
function resetForm(visitor: Member, { id, username }: KnownUser): Html {
  const label = visitor.words.text('factor.reset');
  return actionForm(visitor, `/admin/users/${id}/second-factor`, label, { style: 'danger', about: username });
}

function disableForm(visitor: Member, { id, username, disabledAt }: KnownUser): Html {
  const isDisabled = disabledAt !== null;
  return actionForm(
    visitor,
    `/admin/users/${id}/disabled`,
    visitor.words.text(isDisabled ? 'users.enable' : 'users.disable'),
    { ...(!isDisabled && { style: 'danger' }), fields: { disabled: String(!isDisabled) }, about: username },
  );
}
