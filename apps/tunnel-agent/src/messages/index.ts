import { createTranslator, type Language, type Translator } from '@gatehouse/i18n';
import { en } from './en.js';
import { zhCN } from './zh-CN.js';

export type AgentMessages = typeof en;
export type AgentWords = Translator<AgentMessages>;

const WORDS: Readonly<Record<Language, AgentWords>> = {
  en: createTranslator<AgentMessages>('en', en),
  'zh-CN': createTranslator<AgentMessages>('zh-CN', zhCN),
};

export function agentWords(language: Language): AgentWords {
  return WORDS[language];
}

/** For the test that compares them. */
export const AGENT_CATALOGUES = { en, 'zh-CN': zhCN };
