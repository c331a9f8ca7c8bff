import { actionForm } from '../parts/forms.js';
import { Html, markup } from '../parts/markup.js';
import type { Visitor } from '../../wire/visitor.js';

export function homePage(visitor: Visitor, offersDemo: boolean): Html {
  const { account } = visitor;
  return markup`<p>Third-party applications act here for their users: they look up resources, unlock them, share links and
check in, within the limits and scopes that the users gave them.</p>
${account === null ? forStrangers() : forMembers(account.nickname)}
${offersDemo && demoOffer(visitor)}
<h2>For developers</h2>
<ul>
<li><a href="/docs">Interface description</a> (<a href="/api/open/openapi.json">OpenAPI document</a>,
<a href="/docs/errors">error codes</a>)</li>
<li><a href="/developer">Register an application</a></li>
<li><a href="/.well-known/oauth-authorization-server">Metadata of the authorization server</a></li>
</ul>`;
}

function forStrangers(): Html {
  return markup`<p class="actions"><a href="/login">Log in</a> <a href="/register">Register</a></p>
<p class="quiet">First start? Whoever runs the service finds the first login where it was started.</p>`;
}

function forMembers(nickname: string): Html {
  return markup`<p>Welcome, ${nickname}. To your <a href="/account">account</a>, <a href="/shares">shares</a> and
<a href="/keys">API keys</a>.</p>`;
}

function demoOffer(visitor: Visitor): Html {
  return markup`<section class="panel" aria-labelledby="demo"><h2 id="demo">Try it out</h2>
<p>Makes a demonstration: an application with its secret, a developer, a user with Premium and points, titles and shares.</p>
${actionForm(visitor, '/demo', 'Make the demonstration')}</section>`;
}

/** `lines`: what there is to try, its secrets included. */
export function demoPage(lines: string | undefined): Html {
  return markup`<p>The secrets of the demonstration are kept in <code>demo.json</code> of the service's home.</p>
${
  lines !== undefined &&
  markup`<div class="table" role="region" aria-label="Calls to try" tabindex="0"><pre>${lines}</pre></div>`
}`;
}
