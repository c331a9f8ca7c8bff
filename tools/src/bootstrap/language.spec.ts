import { terminalLanguage as languageOfPrograms } from '@gatehouse/i18n';
import { expect, it } from 'vitest';
import { terminalLanguage } from '../../bootstrap/language.mjs';

it.each([
  [{}, 'en'],
  [{ LANG: 'zh_CN.UTF-8' }, 'zh-CN'],
  [{ LANG: 'zh_TW' }, 'zh-CN'],
  [{ LANG: 'de_DE.UTF-8' }, 'en'],
  [{ LANG: 'zh_CN.UTF-8', LC_ALL: 'en_GB.UTF-8' }, 'en'],
  [{ LANG: 'en_US.UTF-8', LC_MESSAGES: 'zh_CN.utf8' }, 'zh-CN'],
  [{ LANG: 'en_US.UTF-8', LANGUAGE: 'fr:zh_CN:en' }, 'zh-CN'],
  [{ LANG: 'zh_CN.UTF-8', LANGUAGE: 'en' }, 'en'],
  [{ LANGUAGE: 'zh_CN' }, 'zh-CN'],
  // As gettext: no translation in this locale.
  [{ LC_ALL: 'C.UTF-8', LANGUAGE: 'zh_CN' }, 'en'],
  // Our texts are UTF-8.
  [{ LANG: 'zh_CN.GB18030' }, 'en'],
])('the language of a terminal with %j is %s', (env, language) => {
  expect(terminalLanguage(env, 'linux')).toBe(language);
  // The same rule, for programs that have their dependencies.
  expect(languageOfPrograms(env, 'linux')).toBe(language);
});
