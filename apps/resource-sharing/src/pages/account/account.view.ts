import { nameProgram } from '@gatehouse/i18n';
import type { AppError } from '@gatehouse/platform';
import { MIN_PASSWORD_LENGTH } from '../../site/site.dto.js';
import { actionForm, checkbox, codeField, field, form, submit } from '../parts/forms.js';
import type { FormValues } from '../parts/form-values.js';
import { Html, markup, type Content } from '../parts/markup.js';
import { unreadCard } from '../parts/notice-table.js';
import { permissionNames } from '../parts/permission-words.js';
import { badge, card, dataTable, facts } from '../parts/tables.js';
import { premiumText, timesFor } from '../parts/times.js';
import { trailWords } from '../parts/trail-words.js';
import type { Member } from '../../wire/visitor.js';
import type { AccountOverview } from './account-overviews.js';
import { factorSummary } from './second-factor.view.js';

export type AccountForm = 'profile' | 'email' | 'password' | 'delete';

interface Refused {
  readonly form: AccountForm;
  readonly problem: AppError;
  readonly values: FormValues;
}

export function accountPage(visitor: Member, overview: AccountOverview, refused: Refused | undefined): Html {
  const { account, words } = visitor;
  const refusedIn = (name: AccountForm): Refused | undefined => (refused?.form === name ? refused : undefined);
  const overviewFacts = facts([
    [words.text('fields.username'), account.username],
    [words.text('fields.premium'), premiumText(visitor, account.premiumUntil)],
    [words.text('common.points'), markup`<a href="/points">${overview.points}</a>`],
    [
      words.text('common.permissions'),
      permissionNames(visitor, account.permissions) || words.text('account.everyMembers'),
    ],
    [words.text('account.memberSince'), timesFor(visitor)(account.createdAt)],
  ]);
  return markup`${card(words.text('account.overview'), overviewFacts)}
${overview.unread.length > 0 && unreadCard(visitor, overview.unread)}
${card(words.text('account.sessions'), sessionPart(visitor, overview))}
<div class="columns">
${card(words.text('account.profile'), markup`${profileForm(visitor, refusedIn('profile'))}${emailState(visitor)}`)}
${card(words.text('account.password'), passwordForm(visitor, refusedIn('password')))}
</div>
${card(words.text('factor.title'), factorSummary(visitor))}
${card(words.text('account.events'), eventTable(visitor, overview))}
${card(words.text('recovery.exportTitle'), exportPart(visitor))}
${card(words.text('account.deleteTitle'), deletionForm(visitor, refusedIn('delete')?.problem))}`;
}

function profileForm(visitor: Member, refused: Refused | undefined): Html {
  const { nickname, email } = visitor.account;
  const { problem, values } = refused ?? {};
  return form(visitor, '/account/profile', [
    field(visitor, {
      name: 'nickname',
      autocomplete: 'nickname',
      value: values?.text('nickname') ?? nickname,
      problem,
    }),
    field(visitor, {
      name: 'email',
      type: 'email',
      autocomplete: 'email',
      optional: true,
      value: values?.text('email') ?? email,
      problem,
    }),
    submit(visitor.words.text('account.saveProfile')),
  ]);
}

function emailState(visitor: Member): Content {
  const { account, words } = visitor;
  if (account.email === null) return undefined;
  if (account.emailVerifiedAt !== null) return markup`<p>${badge('good', words.text('recovery.verified'))}</p>`;
  return markup`<p>${badge('fair', words.text('recovery.unverified'))} ${words.text('recovery.unverifiedHint')}</p>
<p class="actions">${actionForm(visitor, '/account/email-verification', words.text('recovery.sendAgain'))}</p>`;
}

function passwordForm(visitor: Member, refused: Refused | undefined): Html {
  const { words } = visitor;
  const { problem, values } = refused ?? {};
  return form(visitor, '/account/password', [
    field(visitor, { name: 'current_password', type: 'password', autocomplete: 'current-password', problem }),
    codeField(visitor, { problem }),
    field(visitor, {
      name: 'new_password',
      hint: words.text('account.newPasswordHint', { length: MIN_PASSWORD_LENGTH }),
      type: 'password',
      autocomplete: 'new-password',
      problem,
    }),
    checkbox(visitor, {
      name: 'revoke_keys',
      hint: words.text('account.revokeKeysHint'),
      checked: values?.isChecked('revoke_keys') ?? true,
    }),
    submit(words.text('account.changePassword')),
  ]);
}

function exportPart({ words }: Member): Html {
  return markup`<p>${words.text('recovery.exportText')}</p>
<p class="actions"><a class="button" href="/account/export">${words.text('recovery.export')}</a></p>`;
}

function deletionForm(visitor: Member, problem: AppError | undefined): Html {
  const { words } = visitor;
  return form(visitor, '/account/delete', [
    markup`<p>${words.text('account.deleteText')}</p>`,
    field(visitor, { name: 'password', type: 'password', autocomplete: 'current-password', problem }),
    codeField(visitor, { problem, id: 'delete-code' }),
    submit(words.text('account.deleteAction'), 'danger'),
  ]);
}

function sessionPart(visitor: Member, { sessions }: AccountOverview): Html {
  const { words } = visitor;
  const time = timesFor(visitor);
  const rows = sessions.map(({ id, createdAt, ip, userAgent }) => [
    time(createdAt),
    ip,
    programName(visitor, userAgent),
    id === visitor.sessionId
      ? badge('info', words.text('account.thisSession'))
      : actionForm(visitor, `/account/sessions/${id}/end`, words.text('common.end'), {
          about: words.text('account.endSession', { address: ip ?? id }),
        }),
  ]);
  const columns = [
    words.text('account.sessionSince'),
    words.text('common.ipAddress'),
    words.text('account.browser'),
    '',
  ];
  return markup`${dataTable(words.text('account.sessions'), columns, rows, words.text('account.noSessions'))}
<p class="actions">${actionForm(visitor, '/account/sessions/end-all', words.text('account.endAll'), { style: 'danger' })}</p>
<p class="hint">${words.text('account.endAllHint')}</p>`;
}

/** A browser by its name and system; another program as it calls itself. */
function programName({ words }: Member, userAgent: string | null): string | null {
  const names = userAgent === null ? null : nameProgram(userAgent);
  if (names === null) return userAgent;
  const { browser, system } = names;
  return system === undefined ? browser : words.text('account.browserOn', { browser, system });
}

function eventTable(visitor: Member, { events }: AccountOverview): Html {
  const { words } = visitor;
  const time = timesFor(visitor);
  const rows = events.map(({ at, type, application, ip }) => [time(at), trailWords(visitor, type), application, ip]);
  const columns = [
    words.text('common.time'),
    words.text('account.event'),
    words.text('account.application'),
    words.text('common.ipAddress'),
  ];
  return dataTable(words.text('account.events'), columns, rows, words.text('account.noEvents'));
}
