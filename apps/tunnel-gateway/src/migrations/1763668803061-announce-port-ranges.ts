import { SqlVersion } from '@gatehouse/persistence';

/** Edges hear when the number of ports of a tunnel changes. */
export class AnnouncePortRanges1763668803061 extends SqlVersion {
  name = 'AnnouncePortRanges1763668803061';
  sqlChecksum = '0477e4fd17c9871868813c9c9517dd225401aa700521da08f8c7bc0f31dee5de';
}
