import { parseBase32, totpUri, type FactorState } from '@gatehouse/auth';
import type { AppError } from '@gatehouse/platform';
import { FACTOR_ISSUER } from '../../site/own-factor.js';
import type { Member } from '../../wire/visitor.js';
import { codeField, copyButton, field, form, submit } from '../parts/forms.js';
import { Html, markup, type Content } from '../parts/markup.js';
import { qrCode } from '../parts/qr-code.js';
import { badge, card, facts } from '../parts/tables.js';
import { timesFor } from '../parts/times.js';

export type FactorForm = 'begin' | 'confirm' | 'codes' | 'end';

/** What the last form made, which is shown only once. */
export interface ShownOnce {
  /** Base32. */
  readonly secret?: string;
  readonly codes?: readonly string[];
}

interface Refused {
  readonly form: FactorForm;
  readonly problem: AppError;
}

const PATH = '/account/second-factor';

/** The card of the account page. */
export function factorSummary({ account, words }: Member): Html {
  const on = account.hasSecondFactor;
  return markup`<p>${badge(on ? 'good' : 'fair', words.text(on ? 'factor.on' : 'factor.off'))} ${words.text(on ? 'factor.isOn' : 'factor.isOff')}</p>
<p class="actions"><a class="button" href="${PATH}">${words.text(on ? 'factor.manage' : 'factor.setUp')}</a></p>`;
}

export function factorPage(visitor: Member, state: FactorState, shown: ShownOnce, refused: Refused | undefined): Html {
  const problemOf = (name: FactorForm): AppError | undefined => (refused?.form === name ? refused.problem : undefined);
  const { words } = visitor;
  const back = markup`<p><a href="/account">${words.text('factor.back')}</a></p>`;
  if (state.state === 'on') return markup`${codesOnce(visitor, shown)}${onPart(visitor, state, problemOf)}${back}`;
  const pending =
    state.state === 'pending' &&
    card(words.text('factor.confirmTitle'), confirmPart(visitor, shown, problemOf('confirm')));
  const begin = state.state === 'off' || shown.secret === undefined;
  return markup`${pending}
${begin && card(words.text(state.state === 'off' ? 'factor.setUp' : 'factor.startAgain'), beginForm(visitor, problemOf('begin')))}
${back}`;
}

function beginForm(visitor: Member, problem: AppError | undefined): Html {
  const { words } = visitor;
  return form(visitor, PATH, [
    markup`<p>${words.text('factor.beginText')}</p>`,
    passwordField(visitor, problem),
    submit(words.text('factor.begin')),
  ]);
}

function confirmPart(visitor: Member, { secret }: ShownOnce, problem: AppError | undefined): Html {
  const { words, account } = visitor;
  return markup`${secret !== undefined && enrolment(visitor, secret, account.username)}
${form(visitor, `${PATH}/confirm`, [
  markup`<p>${words.text('factor.confirmText')}</p>`,
  field(visitor, { name: 'code', autocomplete: 'one-time-code', problem }),
  submit(words.text('factor.turnOn')),
])}`;
}

function enrolment({ words }: Member, secret: string, account: string): Content {
  const uri = totpUri(parseBase32(secret) ?? Buffer.alloc(0), { issuer: FACTOR_ISSUER, account });
  return markup`<p>${words.text('factor.scan')}</p>
${qrCode(uri, words.text('factor.qrCode'))}
<p>${words.text('factor.key')} <code>${secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</code></p>`;
}

function codesOnce(visitor: Member, { codes }: ShownOnce): Content {
  if (codes === undefined) return undefined;
  const { words } = visitor;
  const about = words.text('common.shownOnce', { what: `${words.text('factor.codes')} ` });
  const items = codes.map((code) => markup`<li><code>${code}</code></li>`);
  return markup`<div class="secret" role="status"><p>${about}</p><ul>${items}</ul>${copyButton(visitor, codes.join('\n'))}</div>`;
}

function onPart(
  visitor: Member,
  { since, codesLeft }: FactorState,
  problemOf: (name: FactorForm) => AppError | undefined,
): Html {
  const { words } = visitor;
  const state = facts([
    [words.text('common.status'), badge('good', words.text('factor.on'))],
    [words.text('factor.since'), timesFor(visitor)(since)],
    [words.text('factor.codesLeft'), codesLeft],
  ]);
  const codes = form(visitor, `${PATH}/recovery-codes`, [
    markup`<p>${words.text('factor.renewText')}</p>`,
    passwordField(visitor, problemOf('codes'), 'codes'),
    codeField(visitor, { problem: problemOf('codes'), id: 'codes-code' }),
    submit(words.text('factor.renew')),
  ]);
  const end = form(visitor, `${PATH}/disable`, [
    markup`<p>${words.text('factor.endText')}</p>`,
    passwordField(visitor, problemOf('end'), 'end'),
    codeField(visitor, { problem: problemOf('end'), id: 'end-code' }),
    submit(words.text('factor.turnOff'), 'danger'),
  ]);
  return markup`${card(words.text('factor.title'), state)}
<div class="columns">
${card(words.text('factor.renewTitle'), codes)}
${card(words.text('factor.endTitle'), end)}
</div>`;
}

function passwordField(visitor: Member, problem: AppError | undefined, place?: string): Html {
  return field(visitor, {
    name: 'current_password',
    type: 'password',
    autocomplete: 'current-password',
    problem,
    ...(place !== undefined && { id: `${place}-password` }),
  });
}
