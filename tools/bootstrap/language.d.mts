export function terminalLanguage(
  env?: Readonly<Record<string, string | undefined>>,
  platform?: NodeJS.Platform,
): 'en' | 'zh-CN';
export function localized(english: string, chinese: string): string;
