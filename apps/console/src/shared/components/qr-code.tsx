import qrcode from 'qrcode-generator';

/** Modules of quiet zone around the code (ISO/IEC 18004). */
const QUIET = 4;

/** A text as a QR code, dark on light in every theme, since cameras expect that. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const code = qrcode(0, 'M');
  code.addData(text);
  code.make();
  const count = code.getModuleCount();
  const size = count + 2 * QUIET;
  const rows = Array.from({ length: count }, (_, row) =>
    Array.from({ length: count }, (_unused, column) =>
      code.isDark(row, column) ? `M${column + QUIET} ${row + QUIET}h1v1h-1z` : '',
    ).join(''),
  );
  return (
    <svg class="qr-code" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`} shape-rendering="crispEdges">
      <rect width={size} height={size} fill="#fff" />
      <path d={rows.join('')} fill="#000" />
    </svg>
  );
}
