import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/**
 * The configuration for fonts that were unpacked, which happens where the system has none: a browser ends at the first
 * text that it cannot draw. Undefined where none were.
 */
export function writeFontConfiguration(folder: string, root: string): string | undefined {
  const fonts = join(root, 'usr/share/fonts');
  if (!existsSync(fonts)) return undefined;
  const file = join(folder, 'fonts.conf');
  const folders = ['/usr/share/fonts', fonts].map((place) => `<dir>${escaped(place)}</dir>`).join('');
  const cache = `<cachedir>${escaped(join(folder, 'fonts-cache'))}</cachedir>`;
  writeFileSync(
    file,
    `<?xml version="1.0"?>\n<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">\n<fontconfig>${folders}${cache}</fontconfig>\n`,
  );
  return file;
}
