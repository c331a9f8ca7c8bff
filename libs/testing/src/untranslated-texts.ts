import type { ErrorTranslator } from '@gatehouse/platform';
import { errorTextsIn } from './error-texts.js';

/** Texts of errors below a folder that have no Chinese, each with the file that has it. */
export function untranslatedTexts(folder: URL, translator: Pick<ErrorTranslator, 'text'>): string[] {
  return errorTextsIn(folder)
    .filter(({ text }) => !isTranslated(text, translator))
    .map(({ file, text }) => `${file}: ${text}`);
}

/** Validation leaves out the name of the field that its texts begin with. */
function isTranslated(text: string, translator: Pick<ErrorTranslator, 'text'>): boolean {
  const sample = text.replaceAll('{}', '7').replace(/^\$property /, '');
  return [sample, sample.replace(/^\w+ /, '')].some((english) =>
    /\p{Script=Han}/u.test(translator.text('zh-CN', english)),
  );
}
