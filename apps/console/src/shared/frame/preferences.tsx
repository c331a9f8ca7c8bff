import { LANGUAGE_NAMES, LANGUAGES, type Language } from '@gatehouse/i18n';
import { useState } from 'preact/hooks';
import { t } from '../messages/index.js';
import { chooseLanguage, pageLanguage } from '../messages/language.js';
import { chooseTheme, chosenTheme, THEMES, type Theme } from './theme.js';

/** What a reader chooses for all pages: language and theme. */
export function Preferences() {
  const [theme, setTheme] = useState(chosenTheme);
  const names: Record<Theme, string> = {
    system: t('frame.themeSystem'),
    light: t('frame.themeLight'),
    dark: t('frame.themeDark'),
  };
  const pick = (next: Theme): void => {
    chooseTheme(next);
    setTheme(next);
  };
  return (
    <div class="preferences">
      <select
        aria-label={t('frame.language')}
        value={pageLanguage()}
        onChange={(event) => chooseLanguage(event.currentTarget.value as Language)}
      >
        {LANGUAGES.map((language) => (
          <option key={language} value={language} lang={language}>
            {LANGUAGE_NAMES[language]}
          </option>
        ))}
      </select>
      <select
        aria-label={t('frame.theme')}
        value={theme}
        onChange={(event) => pick(event.currentTarget.value as Theme)}
      >
        {THEMES.map((name) => (
          <option key={name} value={name}>
            {names[name]}
          </option>
        ))}
      </select>
    </div>
  );
}
