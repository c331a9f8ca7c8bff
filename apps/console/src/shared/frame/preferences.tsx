import { THEMES, type ConsolePreferences, type Theme } from '@gatehouse/contracts';
import { LANGUAGE_NAMES, LANGUAGES, type Language } from '@gatehouse/i18n';
import { createContext } from 'preact';
import { useContext, useState } from 'preact/hooks';
import { t } from '../messages/index.js';
import { chooseLanguage, pageLanguage } from '../messages/language.js';
import { chooseTheme, chosenTheme } from './theme.js';

export interface Choice {
  language?: Language;
  theme?: Theme;
}

/** Where the choices of the user who is signed in are kept, beside this browser. It never rejects. */
export const PreferenceStore = createContext<(choice: Choice) => Promise<void>>(() => Promise.resolve());

/** Shows what a user has kept, where this browser has another choice. */
export function applyPreferences({ language, theme }: ConsolePreferences): void {
  if (theme !== null && theme !== chosenTheme()) chooseTheme(theme);
  if (language !== null && language !== pageLanguage()) chooseLanguage(language);
}

/** What a reader chooses for all pages: language and theme. */
export function Preferences() {
  const keep = useContext(PreferenceStore);
  const [theme, setTheme] = useState(chosenTheme);
  const names: Record<Theme, string> = {
    system: t('frame.themeSystem'),
    light: t('frame.themeLight'),
    dark: t('frame.themeDark'),
  };
  const pick = (next: Theme): void => {
    chooseTheme(next);
    setTheme(next);
    void keep({ theme: next });
  };
  const pickLanguage = async (next: Language): Promise<void> => {
    // Before the page is loaded again, which would cut the call off.
    await keep({ language: next });
    chooseLanguage(next);
  };
  return (
    <div class="preferences">
      <select
        aria-label={t('frame.language')}
        value={pageLanguage()}
        onChange={(event) => void pickLanguage(event.currentTarget.value as Language)}
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
