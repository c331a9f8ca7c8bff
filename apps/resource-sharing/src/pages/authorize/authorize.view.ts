import { visibleName } from '../../applications/visible-name.js';
import type { AuthorizationPreview } from '../../oauth/authorization.service.js';
import { actionForm, checkboxes, form } from '../parts/forms.js';
import { bold, Html, linkTo, markup, type Content } from '../parts/markup.js';
import { scopeChoices } from '../parts/scope-words.js';
import { facts } from '../parts/tables.js';
import type { Member } from '../../wire/visitor.js';

/** The request, its application and its user. `address`: the address of this page, with the whole request. */
export function consentPage(visitor: Member, { request, user }: AuthorizationPreview, address: string): Html {
  const { application, grantableScopes, redirectUri } = request;
  const { words } = visitor;
  const name = visibleName(application.name);
  return markup`<p>${words.rich<Content, 'consent.wants'>('consent.wants', { application: name, b: bold })}</p>
${facts([
  [words.text('consent.application'), name],
  [words.text('common.description'), application.description],
  [words.text('consent.review'), words.text(`consent.levels.${application.authLevel}`)],
  [words.text('consent.account'), `${user.nickname} (${user.username})`],
  [words.text('consent.redirectsTo'), destination(visitor, redirectUri)],
])}
${form(visitor, address, [
  checkboxes(visitor, {
    name: 'scope',
    hint: words.text('consent.scopesHint'),
    choices: scopeChoices(visitor, grantableScopes),
    checked: grantableScopes,
  }),
  markup`<p class="actions"><button name="decision" value="allow" class="primary">${words.text('consent.allow')}</button>
<button name="decision" value="deny">${words.text('consent.deny')}</button></p>`,
])}
<p>${words.rich<Content, 'consent.revokeLater'>('consent.revokeLater', { a: linkTo('/authorized') })}</p>
${actionForm(visitor, '/logout', words.text('consent.otherAccount'), { fields: { return_to: address } })}`;
}

/** The relevant part of an address: the host, or the scheme of an application on the device. */
function destination({ words }: Member, redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' ? host : words.text('consent.deviceApplication', { protocol });
}
