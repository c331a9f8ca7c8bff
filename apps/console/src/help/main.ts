import './help.css';
import icon from '../shared/icon.svg';
import { LANGUAGE_COOKIE } from '@gatehouse/i18n';
import { THEMES } from '@gatehouse/contracts';
import { chooseTheme, chosenTheme } from '../shared/frame/theme.js';
import { writeCookie } from '../shared/messages/language.js';
import { search } from './search.js';

// The build puts it into its manifest, where the pages' generator finds it.
export const ASSETS = [icon];

/* The pages can be read without this script; it adds search, switches, copy buttons and the menu of narrow screens. */

function switches(): void {
  const theme = document.querySelector<HTMLSelectElement>('select[name=theme]')!;
  theme.value = chosenTheme();
  theme.addEventListener('change', () => chooseTheme(THEMES.find((name) => name === theme.value) ?? 'system'));
  const language = document.querySelector<HTMLSelectElement>('select[name=language]')!;
  language.addEventListener('change', () => {
    const chosen = language.selectedOptions[0]!;
    writeCookie(LANGUAGE_COOKIE, chosen.value);
    location.assign(chosen.dataset['href']! + location.hash);
  });
}

function menu(): void {
  const button = document.querySelector<HTMLButtonElement>('.menu-button')!;
  const pages = document.querySelector('.pages')!;
  const show = (isOpen: boolean) => {
    pages.classList.toggle('open', isOpen);
    button.setAttribute('aria-expanded', String(isOpen));
  };
  button.addEventListener('click', () => show(!pages.classList.contains('open')));
  addEventListener('keydown', ({ key }) => key === 'Escape' && show(false));
}

function copyCode(): void {
  // Browsers offer no clipboard to pages over plain http on other hosts.
  if (!('clipboard' in navigator)) return;
  const { copy, copied } = document.querySelector<HTMLElement>('main')!.dataset;
  for (const block of document.querySelectorAll('.code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'small';
    button.textContent = copy!;
    button.addEventListener('click', () => {
      void navigator.clipboard.writeText(block.querySelector('code')!.textContent.trimEnd()).then(() => {
        button.textContent = copied!;
        setTimeout(() => (button.textContent = copy!), 2_000);
      });
    });
    block.append(button);
  }
}

/** Marks the heading that is read in the list of headings. */
function followHeadings(): void {
  const links = new Map(
    [...document.querySelectorAll<HTMLAnchorElement>('.outline a')].map((link) => [
      decodeURIComponent(link.hash),
      link,
    ]),
  );
  const observer = new IntersectionObserver(
    (entries) => {
      const first = entries.find(({ isIntersecting }) => isIntersecting);
      if (first === undefined) return;
      for (const [hash, link] of links) {
        if (hash === `#${first.target.id}`) link.setAttribute('aria-current', 'true');
        else link.removeAttribute('aria-current');
      }
    },
    { rootMargin: '-70px 0px -70% 0px' },
  );
  for (const heading of document.querySelectorAll('article h2, article h3')) observer.observe(heading);
}

switches();
menu();
copyCode();
followHeadings();
search(document.querySelector<HTMLElement>('.search')!);
