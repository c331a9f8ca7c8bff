import { useEffect, useState } from 'preact/hooks';
import type { Session } from '../shared/api/session.js';
import { Icon } from '../shared/components/icons.js';
import { hrefTo } from '../shared/state/route.js';
import { useRoute } from '../shared/state/use-route.js';
import { Brand } from './brand.js';
import { findPage, NAVIGATION } from './pages.js';

/** Navigation beside the page that the address names. */
export function Shell({ session, open }: { session: Session; open: boolean }) {
  const route = useRoute();
  const [menuOpen, setMenuOpen] = useState(false);
  useEffect(() => setMenuOpen(false), [route.page]);
  const { Component } = findPage(route.page);
  return (
    <div class="shell">
      <a class="skip" href="#content" onClick={skip}>
        To the content
      </a>
      <div class={`side ${menuOpen ? '' : 'closed'}`}>
        <div class="actions">
          <Brand />
          <button type="button" class="menu-button" aria-expanded={menuOpen} onClick={() => setMenuOpen(!menuOpen)}>
            Menu
          </button>
        </div>
        <nav aria-label="Pages">
          <Links current={route.page} />
        </nav>
        <div class="foot">
          {open && <p class="muted">Login is off: whoever reaches this address may do everything.</p>}
          <a href="/docs">API description</a>
          {!open && (
            <button type="button" onClick={() => session.signOut()}>
              Sign out
            </button>
          )}
        </div>
      </div>
      <main id="content" tabIndex={-1}>
        <Component key={route.page} query={route.query} />
      </main>
    </div>
  );
}

/** The address names the page; an ordinary link to an element would change it. */
function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('content')?.focus();
}

function Links({ current }: { current: string }) {
  return (
    <>
      {NAVIGATION.map((group) => (
        <ul key={group[0]!.id}>
          {group.map(({ id, title, icon }) => (
            <li key={id}>
              <a href={hrefTo(id)} aria-current={current === id ? 'page' : undefined}>
                <Icon name={icon} />
                {title}
              </a>
            </li>
          ))}
        </ul>
      ))}
    </>
  );
}
