import { nameProgram } from '@gatehouse/i18n';
import { t } from '../messages/index.js';

/** What a program says of itself, in two words; whole where it is none that people know. */
export function describeBrowser(software: string | null): string {
  if (software === null || software === '') return t('sessions.unknownProgram');
  const names = nameProgram(software);
  if (names === null) return software;
  const { browser, system } = names;
  return system === undefined ? browser : t('sessions.on', { browser, system });
}
