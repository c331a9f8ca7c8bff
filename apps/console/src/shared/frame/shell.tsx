import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../components/icons.js';
import { hrefTo } from '../state/route.js';
import { useRoute } from '../state/use-route.js';
import { Brand } from './brand.js';
import { findPage, listedPages, type Navigation } from './pages.js';
import { Preferences } from './preferences.js';
import { UnknownPage } from './unknown-page.js';
import { t } from '../messages/index.js';

/** Of all times that a console shows. */
const TIME_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

interface ShellProps {
  product: string;
  navigation: Navigation;
  /** Below the pages: who is signed in, and the way out. */
  foot: ComponentChildren;
}

/** Navigation beside the page that the address names. */
export function Shell({ product, navigation, foot }: ShellProps) {
  const route = useRoute();
  const [menuOpen, setMenuOpen] = useState(false);
  useEffect(() => setMenuOpen(false), [route.page]);
  const Component = findPage(navigation, route.page)?.Component ?? UnknownPage;
  return (
    <div class="shell">
      <a class="skip" href="#content" onClick={skip}>
        {t('frame.skip')}
      </a>
      <header class={`side ${menuOpen ? '' : 'closed'}`}>
        <div class="actions">
          <Brand product={product} />
          <button type="button" class="menu-button" aria-expanded={menuOpen} onClick={() => setMenuOpen(!menuOpen)}>
            {t('frame.menu')}
          </button>
        </div>
        <nav aria-label={t('frame.pages')}>
          <Links navigation={navigation} current={route.page} onFollow={() => setMenuOpen(false)} />
        </nav>
        <div class="foot">
          {foot}
          <a href="help/">{t('frame.documentation')}</a>
          <a href="docs">{t('frame.apiReference')}</a>
          <Preferences />
          <span class="muted">{t('frame.timeZone', { zone: TIME_ZONE })}</span>
        </div>
      </header>
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

interface LinksProps {
  navigation: Navigation;
  current: string;
  onFollow: () => void;
}

function Links({ navigation, current, onFollow }: LinksProps) {
  return (
    <>
      {listedPages(navigation).map((group) => (
        <ul key={group[0]!.id}>
          {group.map(({ id, title, icon }) => (
            <li key={id}>
              <a href={hrefTo(id)} aria-current={current === id ? 'page' : undefined} onClick={onFollow}>
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
