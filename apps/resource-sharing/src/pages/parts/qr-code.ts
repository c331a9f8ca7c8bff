import qrcode from 'qrcode-generator';
import { Html, markup } from './markup.js';

/** Modules of quiet zone around the code (ISO/IEC 18004). */
const QUIET = 4;

/** A text as a QR code, dark on light in every theme, since cameras expect that. */
export function qrCode(text: string, label: string): Html {
  const code = qrcode(0, 'M');
  code.addData(text);
  code.make();
  const count = code.getModuleCount();
  const size = count + 2 * QUIET;
  let path = '';
  for (let row = 0; row < count; row++) {
    for (let column = 0; column < count; column++) {
      if (code.isDark(row, column)) path += `M${column + QUIET} ${row + QUIET}h1v1h-1z`;
    }
  }
  return markup`<svg class="qr-code" role="img" aria-label="${label}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">
<rect width="${size}" height="${size}" fill="#fff"/><path d="${path}" fill="#000"/></svg>`;
}
