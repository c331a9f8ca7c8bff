import { actionForm } from '../parts/forms.js';
import { code, Html, markup, type Content } from '../parts/markup.js';
import { card } from '../parts/tables.js';
import type { Visitor } from '../../wire/visitor.js';

/** `own`: the content for a member; undefined for a stranger. */
export function homePage(visitor: Visitor, own: Html | undefined, offersDemo: boolean): Html {
  const { words } = visitor;
  return markup`${
    own ??
    markup`<p>${words.text('home.intro')}</p>
${forStrangers(visitor)}`
  }
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

function demoOffer(visitor: Visitor): Html {
  const { words } = visitor;
  return card(
    words.text('home.demo'),
    markup`<p>${words.text('home.demoText')}</p>
${actionForm(visitor, '/demo', words.text('home.demoAction'), { style: 'primary' })}`,
  );
}

/** `lines`: things to try, including their secrets. */
export function demoPage({ words }: Visitor, lines: string | undefined): Html {
  const label = words.text('home.demoCalls');
  return markup`<p>${words.rich<Content, 'home.demoSecrets'>('home.demoSecrets', { code })}</p>
${
  lines !== undefined &&
  markup`<div class="table" role="region" aria-label="${label}" tabindex="0"><pre>${lines}</pre></div>`
}`;
}
