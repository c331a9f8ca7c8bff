import { randomBytes } from 'node:crypto';
import type { Application } from '../../applications/application-rows.js';
import { isPublic } from '../../credentials/credential-records.js';
import { challengeOf } from '../../oauth/pkce.js';
import type { Visitor } from '../../wire/visitor.js';
import { copyButton } from '../parts/forms.js';
import { Html, markup, type Content } from '../parts/markup.js';
import { card } from '../parts/tables.js';
import { authorizationAddress, quickstartSamples, type QuickstartFacts, type QuickstartSample } from './quickstart.js';

/** From the redirect of a user to the first call, with the values of this application. Empty without a redirect URI. */
export function quickstart(visitor: Visitor, application: Application, base: string): Html | undefined {
  const [redirectUri] = application.redirectUris;
  if (redirectUri === undefined) return undefined;
  const { words } = visitor;
  const facts = factsOf(application, redirectUri, base);
  const address = authorizationAddress(facts);
  return card(
    words.text('quickstart.title'),
    markup`<ol class="quickstart">
<li><p>${words.text('quickstart.send')}</p>
<p class="shared-link"><a href="${address}"><code>${address}</code></a> ${copyButton(visitor, address)}</p>
<p class="hint">${words.text('quickstart.pkce')}</p></li>
<li><p>${words.rich('quickstart.back', { address: redirectUri, code: (inside) => markup`<code>${inside}</code>` })}</p></li>
<li><p>${words.text(facts.isPublic ? 'quickstart.callPublic' : 'quickstart.call')}</p>
<div class="code-tabs">${quickstartSamples(facts).map((sample, index) => sampleOf(visitor, sample, index === 0))}</div></li>
</ol>
<p>${words.rich<Content, 'quickstart.client'>('quickstart.client', {
      link: (inside) => markup`<a href="/help/${words.language === 'zh-CN' && 'zh-CN/'}clients.html">${inside}</a>`,
      postman: (inside) => markup`<a href="/api/open/postman.json" download>${inside}</a>`,
    })}</p>`,
  );
}

/** Elements with the same name close each other, which makes tabs without a script. */
function sampleOf(visitor: Visitor, { language, source }: QuickstartSample, isOpen: boolean): Html {
  return markup`<details name="quickstart"${isOpen && new Html(' open')}>
<summary>${language}</summary>
<pre tabindex="0" aria-label="${language}"><code>${source}</code></pre>
${copyButton(visitor, source)}
</details>`;
}

function factsOf(application: Application, redirectUri: string, base: string): QuickstartFacts {
  const { clientId, allowedScopes } = application;
  const verifier = randomBytes(32).toString('base64url');
  return {
    base,
    clientId,
    redirectUri,
    scopes: allowedScopes,
    verifier,
    challenge: challengeOf(verifier),
    state: randomBytes(9).toString('base64url'),
    isPublic: isPublic(application),
  };
}
