import { fileURLToPath } from 'node:url';
import { readEntryAssets } from '@gatehouse/platform';

/** The folder with the built consoles and the site's script. */
export const ASSET_FOLDER = fileURLToPath(new URL('../../../../console/dist/site', import.meta.url));

/** Addresses of what every page needs; without a build, pages have neither style nor script, but they work. */
export interface SiteAssets {
  readonly script: string | undefined;
  readonly styles: readonly string[];
  readonly icon: string | undefined;
  /** Icons by name, after `#`. */
  readonly icons: string | undefined;
}

let known: SiteAssets | undefined;

/** Read once, because a build belongs to the running version. */
export function siteAssets(): SiteAssets {
  known ??= read();
  return known;
}

function read(): SiteAssets {
  const built = readEntryAssets(ASSET_FOLDER, 'src/site/main.ts');
  const address = (file: string | undefined): string | undefined => (file === undefined ? undefined : `/${file}`);
  return {
    script: address(built?.script),
    styles: (built?.styles ?? []).map((file) => `/${file}`),
    icon: address(built?.files['src/shared/icon.svg']),
    icons: address(built?.files['src/shared/icons.svg']),
  };
}
