import { actionForm } from '../parts/forms.js';
import { code, Html, markup, type Content } from '../parts/markup.js';
import { card } from '../parts/tables.js';
import type { Visitor } from '../../wire/visitor.js';

export function homePage(visitor: Visitor, offersDemo: boolean): Html {
  const { words, account } = visitor;
  return markup`<p>${words.text('home.intro')}</p>
${account === null ? forStrangers(visitor) : forMembers(visitor, account.nickname)}
${offersDemo && demoOffer(visitor)}
${card(
  words.text('home.developers'),
  markup`<ul>
<li><a href="/developer">${words.text('home.registerApplication')}</a></li>
<li><a href="/docs">${words.text('frame.apiReference')}</a></li>
<li><a href="/api/open/openapi.json">${words.text('home.apiDocument')}</a></li>
<li><a href="/docs/errors">${words.text('home.errorCodes')}</a></li>
<li><a href="/.well-known/oauth-authorization-server">${words.text('home.metadata')}</a></li>
</ul>`,
)}`;
}

function forStrangers({ words }: Visitor): Html {
  return markup`<p class="actions"><a class="button primary" href="/login">${words.text('frame.signIn')}</a>
<a class="button" href="/register">${words.text('frame.register')}</a></p>
<p class="muted">${words.text('home.firstStart')}</p>`;
}

function forMembers({ words }: Visitor, nickname: string): Html {
  const link = (path: string, title: string, text: string): Html =>
    markup`<li><a href="${path}">${title}</a><span class="second">${text}</span></li>`;
  return card(
    words.text('home.welcome', { name: nickname }),
    markup`<ul class="links">
${link('/account', words.text('home.yours'), words.text('home.yoursText'))}
${link('/shares', words.text('frame.shares'), words.text('home.sharesText'))}
${link('/authorized', words.text('frame.authorized'), words.text('home.authorizedText'))}
${link('/keys', words.text('frame.keys'), words.text('home.keysText'))}
</ul>`,
  );
}

function demoOffer(visitor: Visitor): Html {
  const { words } = visitor;
  return card(
    words.text('home.demo'),
    markup`<p>${words.text('home.demoText')}</p>
${actionForm(visitor, '/demo', words.text('home.demoAction'), { style: 'primary' })}`,
  );
}

/** `lines`: what there is to try, its secrets included. */
export function demoPage({ words }: Visitor, lines: string | undefined): Html {
  const label = words.text('home.demoCalls');
  return markup`<p>${words.rich<Content, 'home.demoSecrets'>('home.demoSecrets', { code })}</p>
${
  lines !== undefined &&
  markup`<div class="table" role="region" aria-label="${label}" tabindex="0"><pre>${lines}</pre></div>`
}`;
}
