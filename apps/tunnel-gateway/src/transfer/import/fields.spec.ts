import { ErrorTranslator } from '@gatehouse/platform';
import { expect, it } from 'vitest';
import { IMPORT_TEXTS } from '../../import-texts.zh-CN.js';
import { Fields } from './fields.js';
import { ImportReport } from './import-report.js';

const translator = new ErrorTranslator(IMPORT_TEXTS);

it.each([
  ['text', 7],
  ['integer', 1.5],
  ['ports', '1-'],
  ['flag', 'yes'],
  ['texts', ['a', 1]],
  ['textMap', { a: 1 }],
] as const)('refuses what is no %s, and says so in both languages', (type, value) => {
  const report = new ImportReport();
  const fields = new Fields({ field: value }, { file: 'frps.toml', path: '' }, report);
  fields[type]('field', 'name');
  expect(report.lines).toMatchObject([{ outcome: 'refused', path: 'field', message: /^must be / }]);
  expect(translator.text('zh-CN', report.lines[0]?.message ?? '')).toMatch(/^必须是/);
});
