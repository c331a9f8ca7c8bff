import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** What the generic families of a page are, where the system has no configuration of its own. */
const FAMILIES = ['sans-serif', 'system-ui']
  .map(
    (family) =>
      `<alias><family>${family}</family><prefer><family>DejaVu Sans</family><family>WenQuanYi Micro Hei</family></prefer></alias>`,
  )
  .join('');

/**
 * The configuration for fonts that were unpacked, beside the system's own: a browser ends at the first text that it cannot
 * draw where there is no font. Undefined where none were unpacked.
 */
export function writeFontConfiguration(folder: string, root: string): string | undefined {
  const fonts = join(root, 'usr/share/fonts');
  if (!existsSync(fonts)) return undefined;
  const file = join(folder, 'fonts.conf');
  const system = '<include ignore_missing="yes">/etc/fonts/fonts.conf</include>';
  const folders = ['/usr/share/fonts', fonts].map((place) => `<dir>${escaped(place)}</dir>`).join('');
  const cache = `<cachedir>${escaped(join(folder, 'fonts-cache'))}</cachedir>`;
  writeFileSync(
    file,
    `<?xml version="1.0"?>\n<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">\n<fontconfig>${system}${folders}${cache}${FAMILIES}</fontconfig>\n`,
  );
  return file;
}
