import type { AppError } from '@gatehouse/platform';
import { visibleName } from '../../applications/visible-name.js';
import type { DeviceRequest } from '../../oauth/device-authorization.js';
import type { Member } from '../../wire/visitor.js';
import { checkboxes, field, form, hiddenField, submit } from '../parts/forms.js';
import { bold, code, Html, linkTo, markup, type Content } from '../parts/markup.js';
import { scopeChoices } from '../parts/scope-words.js';
import { facts } from '../parts/tables.js';

export function deviceForm(visitor: Member, userCode: string, problem: AppError | undefined): Html {
  const { words } = visitor;
  return markup`<p>${words.text('device.intro')}</p>
${form(visitor, '/device', [
  field(visitor, { name: 'user_code', value: userCode, autocomplete: 'off', problem }),
  submit(words.text('device.continue')),
])}`;
}

/** RFC 8628 section 5.4: who sent the code may be someone else, so the page says what to compare. */
export function deviceConsent(visitor: Member, { userCode, application, scopes }: DeviceRequest): Html {
  const { words, account } = visitor;
  const name = visibleName(application.name);
  return markup`<p>${words.rich<Content, 'consent.wants'>('consent.wants', { application: name, b: bold })}</p>
<p class="notice bad" role="note">${words.rich<Content, 'device.warning'>('device.warning', { code: userCode, mono: code })}</p>
${facts([
  [words.text('consent.application'), name],
  [words.text('common.description'), application.description],
  [words.text('consent.review'), words.text(`consent.levels.${application.authLevel}`)],
  [words.text('consent.account'), `${account.nickname} (${account.username})`],
])}
${form(visitor, '/device/confirm', [
  hiddenField('user_code', userCode),
  checkboxes(visitor, {
    name: 'scope',
    hint: words.text('consent.scopesHint'),
    choices: scopeChoices(visitor, scopes),
    checked: scopes,
  }),
  markup`<p class="actions"><button name="decision" value="allow" class="primary">${words.text('consent.allow')}</button>
<button name="decision" value="deny">${words.text('consent.deny')}</button></p>`,
])}
<p>${words.rich<Content, 'consent.revokeLater'>('consent.revokeLater', { a: linkTo('/authorized') })}</p>`;
}
