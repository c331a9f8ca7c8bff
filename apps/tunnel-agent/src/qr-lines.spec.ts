import qrcode from 'qrcode-generator';
import { expect, it } from 'vitest';
import { qrLines } from './qr-lines.js';

it('draws the light modules of the code, with a quiet zone around it', () => {
  const text = 'https://demo.example.org/';
  const code = qrcode(0, 'M');
  code.addData(text);
  code.make();
  const count = code.getModuleCount();
  const rows = qrLines(text).flatMap((line) => [
    line.split('').map((block) => block === '▀' || block === '█'),
    line.split('').map((block) => block === '▄' || block === '█'),
  ]);
  for (let row = -2; row < count + 2; row += 1) {
    for (let column = -2; column < count + 2; column += 1) {
      const inside = row >= 0 && row < count && column >= 0 && column < count;
      expect(rows[row + 2]?.[column + 2]).toBe(!inside || !code.isDark(row, column));
    }
  }
});
