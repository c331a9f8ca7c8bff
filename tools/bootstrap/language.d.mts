export function terminalLanguage(
  env?: Readonly<Record<string, string | undefined>>,
  platform?: NodeJS.Platform,
): 'en' | 'zh-CN';
export function localized(english: string, chinese: string): string;
export function localizedText(text: Readonly<Record<'en' | 'zh-CN', string>>): string;
