import qrcode from 'qrcode-generator';

/** Modules of quiet zone around the code; readers of phones manage with fewer than the four of the standard. */
const QUIET = 2;
const BLOCKS = [' ', '▄', '▀', '█'] as const;

/** A text as a QR code for a terminal with light text on a dark background: what is light in the code is drawn. */
export function qrLines(text: string): string[] {
  const code = qrcode(0, 'M');
  code.addData(text);
  code.make();
  const count = code.getModuleCount();
  const isLight = (row: number, column: number): boolean => {
    if (row >= count + QUIET) return false;
    const inside = row >= 0 && row < count && column >= 0 && column < count;
    return !inside || !code.isDark(row, column);
  };
  const lines: string[] = [];
  for (let row = -QUIET; row < count + QUIET; row += 2) {
    let line = '';
    for (let column = -QUIET; column < count + QUIET; column += 1) {
      line += BLOCKS[(isLight(row, column) ? 2 : 0) + (isLight(row + 1, column) ? 1 : 0)];
    }
    lines.push(line);
  }
  return lines;
}
