import {
  acceptedLanguage,
  createTranslator,
  type Language,
  type MessageKey,
  type Messages,
  type Translator,
} from '@gatehouse/i18n';
import { en } from './en.js';
import { zhCN } from './zh-CN.js';

export type VisitorMessages = typeof en;
export type VisitorWords = Translator<VisitorMessages>;

type NameIn<Section extends keyof VisitorMessages> = VisitorMessages[Section] extends Messages
  ? MessageKey<VisitorMessages[Section]>
  : never;

/** Why a page cannot be shown. */
export type ErrorName = NameIn<'errors'>;
/** Why a visitor is not signed in. */
export type ProblemName = NameIn<'problems'>;
export type TitleName = NameIn<'titles'>;

const WORDS: Readonly<Record<Language, VisitorWords>> = {
  en: createTranslator<VisitorMessages>('en', en),
  'zh-CN': createTranslator<VisitorMessages>('zh-CN', zhCN),
};

/**
 * Texts in the visitor's language, by `Accept-Language` alone: hosts belong to other people, so no cookie of Gatehouse is
 * read there.
 */
export function visitorWords(acceptLanguage: string | undefined): VisitorWords {
  return WORDS[acceptedLanguage(acceptLanguage)];
}

/** For the test that compares them. */
export const VISITOR_CATALOGUES = { en, 'zh-CN': zhCN };
