import type { AuthLevel } from '../../applications/application-rows.js';
import { visibleName } from '../../applications/visible-name.js';
import type { AuthorizationPreview } from '../../oauth/authorization.service.js';
import { actionForm, checkboxes, form } from '../parts/forms.js';
import { Html, markup } from '../parts/markup.js';
import { scopeChoices } from '../parts/scope-words.js';
import { facts } from '../parts/tables.js';
import type { Member } from '../../wire/visitor.js';

const LEVELS: Readonly<Record<AuthLevel, string>> = {
  unverified: 'not reviewed: only its developer and test users can allow it',
  verified: 'reviewed',
  trusted: 'reviewed and trusted',
  internal: 'of this service itself',
};

/** What is asked, by whom and of whom. `address`: of this page, with the whole request. */
export function consentPage(visitor: Member, { request, user }: AuthorizationPreview, address: string): Html {
  const { application, grantableScopes, redirectUri } = request;
  const name = visibleName(application.name);
  return markup`<p><strong>${name}</strong> wants to act for your account.</p>
${facts([
  ['Application', name],
  ['About it', application.description],
  ['Review', LEVELS[application.authLevel]],
  ['Account', `${user.nickname} (${user.username})`],
  ['Leads to', destination(redirectUri)],
])}
${form(visitor, address, [
  checkboxes({
    name: 'scope',
    label: 'It may',
    hint: 'Take away what you do not want to allow.',
    choices: scopeChoices(grantableScopes),
    checked: grantableScopes,
  }),
  markup`<p class="actions"><button name="decision" value="allow">Allow</button>
<button name="decision" value="deny" class="plain">Deny</button></p>`,
])}
<p>You can end this at any time under <a href="/authorized">authorised applications</a>.</p>
${actionForm(visitor, '/logout', 'Use another account', { style: 'plain', fields: { return_to: address } })}`;
}

/** What matters of an address: the host, or the scheme of an application on the device. */
function destination(redirectUri: string): string {
  const { protocol, host } = new URL(redirectUri);
  return protocol === 'https:' || protocol === 'http:' ? host : `an application on this device (${protocol})`;
}
