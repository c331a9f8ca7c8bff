import { expect, it } from 'vitest';
import { table } from './table.js';

it('aligns columns of Chinese characters, which are twice as wide', () => {
  expect(
    table([
      ['服务', 'address'],
      ['proxy', '1'],
      ['代理内核（新）', '2'],
    ]),
  ).toBe(['服务            address', '--------------  -------', 'proxy           1', '代理内核（新）  2'].join('\n'));
});
