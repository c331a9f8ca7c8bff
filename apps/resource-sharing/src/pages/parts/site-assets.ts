import { fileURLToPath } from 'node:url';
import { readEntryAssets } from '@gatehouse/platform';

/** Where the build of the consoles and of the site's script is. */
export const ASSET_FOLDER = fileURLToPath(new URL('../../../../console/dist/site', import.meta.url));

/** Addresses of what every page needs; pages without a build have neither style nor script, and work. */
export interface SiteAssets {
  readonly script: string | undefined;
  readonly styles: readonly string[];
  readonly icon: string | undefined;
  /** Drawings by name, behind `#`. */
  readonly icons: string | undefined;
}

let known: SiteAssets | undefined;

/** Read once: a build belongs to the version that runs. */
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
