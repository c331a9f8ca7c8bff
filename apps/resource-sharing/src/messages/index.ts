import { createTranslator, type Language, type Translator } from '@gatehouse/i18n';
import { administration } from './en/administration.js';
import { factor } from './en/factor.js';
import { frame } from './en/frame.js';
import { library } from './en/library.js';
import { mail } from './en/mail.js';
import { member } from './en/member.js';
import { notice } from './en/notice.js';
import { quickstart } from './en/quickstart.js';
import { testMode } from './en/test-mode.js';
import { trail } from './en/trail.js';
import { usage } from './en/usage.js';
import { webhook } from './en/webhook.js';
import { administration as administrationZh } from './zh-CN/administration.js';
import { factor as factorZh } from './zh-CN/factor.js';
import { frame as frameZh } from './zh-CN/frame.js';
import { library as libraryZh } from './zh-CN/library.js';
import { mail as mailZh } from './zh-CN/mail.js';
import { member as memberZh } from './zh-CN/member.js';
import { notice as noticeZh } from './zh-CN/notice.js';
import { quickstart as quickstartZh } from './zh-CN/quickstart.js';
import { testMode as testModeZh } from './zh-CN/test-mode.js';
import { trail as trailZh } from './zh-CN/trail.js';
import { usage as usageZh } from './zh-CN/usage.js';
import { webhook as webhookZh } from './zh-CN/webhook.js';

const en = {
  ...frame,
  ...factor,
  ...library,
  ...member,
  ...quickstart,
  ...usage,
  ...webhook,
  ...testMode,
  ...administration,
  ...trail,
  ...notice,
  ...mail,
};
const zhCN = {
  ...frameZh,
  ...factorZh,
  ...libraryZh,
  ...memberZh,
  ...quickstartZh,
  ...usageZh,
  ...webhookZh,
  ...testModeZh,
  ...administrationZh,
  ...trailZh,
  ...noticeZh,
  ...mailZh,
};

export type SiteMessages = typeof en;

const TRANSLATORS: Readonly<Record<Language, Translator<SiteMessages>>> = {
  en: createTranslator('en', en),
  'zh-CN': createTranslator('zh-CN', zhCN),
};

/** Words of the site's pages in one language. */
export function siteMessages(language: Language): Translator<SiteMessages> {
  return TRANSLATORS[language];
}

/** For the test that compares them. */
export const CATALOGUES = { en, 'zh-CN': zhCN };
