/** `system`: as the reader's system is. */
export const THEMES = ['system', 'light', 'dark'] as const;

export type Theme = (typeof THEMES)[number];

/** How a user likes the pages, in every browser. Null: the browser's own choice. */
export interface ConsolePreferences {
  language: 'en' | 'zh-CN' | null;
  theme: (typeof THEMES)[number] | null;
}
