import { terminalLanguage, type Language } from '@gatehouse/i18n';

/** The language of the terminal that this program was started from. */
export const OWN_TERMINAL_LANGUAGE: Language = terminalLanguage(process.env);
