import type { AppError } from '@gatehouse/platform';
import type { TransferKind } from '../../points/points-ledger.js';
import { MIN_PASSWORD_LENGTH } from '../../site/site.dto.js';
import { actionForm, checkbox, field, form, submit } from '../parts/forms.js';
import type { FormValues } from '../parts/form-values.js';
import { Html, markup } from '../parts/markup.js';
import { dataTable, facts } from '../parts/tables.js';
import { premiumText, timeIn } from '../parts/times.js';
import type { Member } from '../../wire/visitor.js';
import type { AccountOverview } from './account-overviews.js';

export type AccountForm = 'profile' | 'password' | 'delete';

interface Refused {
  readonly form: AccountForm;
  readonly problem: AppError;
  readonly values: FormValues;
}

const KINDS: Readonly<Record<TransferKind, string>> = {
  unlock: 'Unlock',
  check_in: 'Check-in',
  grant: 'Given by the administration',
  share_deletion: 'Share taken back',
};

export function accountPage(visitor: Member, overview: AccountOverview, refused: Refused | undefined): Html {
  const { account } = visitor;
  const time = timeIn(overview.timeZone);
  return markup`${facts([
    ['User name', account.username],
    ['Premium', premiumText(account.premiumUntil, time)],
    ['Points', overview.points],
    ['Permissions', account.permissions.join(', ') || 'those of every member'],
    ['Member since', time(account.createdAt)],
  ])}
<h2>Profile</h2>
${profileForm(visitor, refused?.form === 'profile' ? refused : undefined)}
<h2>Points</h2>
${ledgerTable(overview)}
<h2>Sessions</h2>
${sessionTable(visitor, overview)}
${actionForm(visitor, '/account/sessions/end-all', 'Log out everywhere', { style: 'danger' })}
<p class="hint">This session ends too, your API keys, and every authorization that you gave to applications.</p>
<h2>Password</h2>
${passwordForm(visitor, refused?.form === 'password' ? refused : undefined)}
<h2>What happened</h2>
${eventTable(overview)}
<h2>Delete the account</h2>
${deletionForm(visitor)}`;
}

function profileForm(visitor: Member, refused: Refused | undefined): Html {
  const { nickname, email } = visitor.account;
  const { problem, values } = refused ?? {};
  return form(visitor, '/account/profile', [
    field({
      name: 'nickname',
      label: 'Name that others see',
      autocomplete: 'nickname',
      value: values?.text('nickname') ?? nickname,
      problem,
    }),
    field({
      name: 'email',
      label: 'Email',
      type: 'email',
      autocomplete: 'email',
      optional: true,
      value: values?.text('email') ?? email,
      problem,
    }),
    submit('Change the profile'),
  ]);
}

function passwordForm(visitor: Member, refused: Refused | undefined): Html {
  const { problem, values } = refused ?? {};
  return form(visitor, '/account/password', [
    field({
      name: 'current_password',
      label: 'Present password',
      type: 'password',
      autocomplete: 'current-password',
      problem,
    }),
    field({
      name: 'new_password',
      label: 'New password',
      hint: `At least ${MIN_PASSWORD_LENGTH} characters. Every other session and every authorization of applications ends.`,
      type: 'password',
      autocomplete: 'new-password',
      problem,
    }),
    checkbox({
      name: 'revoke_keys',
      label: 'End my API keys too',
      hint: 'And the leave of my applications to act for me. Do so when somebody else may know the password.',
      checked: values?.isChecked('revoke_keys') ?? true,
    }),
    submit('Change the password'),
  ]);
}

function deletionForm(visitor: Member): Html {
  return form(visitor, '/account/delete', [
    markup`<p>Your applications, keys and authorizations end and your shares are taken back. This cannot be undone.</p>`,
    field({ name: 'password', label: 'Password', type: 'password', autocomplete: 'current-password' }),
    submit('Delete the account', 'danger'),
  ]);
}

function ledgerTable({ ledger, timeZone }: AccountOverview): Html {
  const time = timeIn(timeZone);
  const rows = ledger.map((line) => [
    time(line.at),
    KINDS[line.kind] ?? line.kind,
    line.amount > 0 ? `+${line.amount}` : line.amount,
    line.balanceAfter,
    line.note,
  ]);
  return dataTable('Last movements', ['When', 'What', 'Points', 'After it', 'Note'], rows, 'No points were moved yet.');
}

function sessionTable(visitor: Member, { sessions, timeZone }: AccountOverview): Html {
  const time = timeIn(timeZone);
  const rows = sessions.map(({ id, createdAt, ip, userAgent }) => [
    time(createdAt),
    ip,
    userAgent,
    id === visitor.sessionId
      ? markup`<span class="tag">this one</span>`
      : actionForm(visitor, `/account/sessions/${id}/end`, 'End', { style: 'plain', about: `session of ${ip ?? id}` }),
  ]);
  return dataTable('Open sessions', ['Since', 'Address', 'Browser', ''], rows, 'There is no session.');
}

function eventTable({ events, timeZone }: AccountOverview): Html {
  const time = timeIn(timeZone);
  const rows = events.map(({ at, type, application, ip }) => [time(at), type, application, ip]);
  return dataTable('Last events', ['When', 'What', 'Application', 'Address'], rows, 'Nothing yet.');
}
