import { SqlVersion } from '@gatehouse/persistence';

/** Edges hear when the rate limit of a tunnel changes. */
export class AnnounceTunnelRates1763668803021 extends SqlVersion {
  name = 'AnnounceTunnelRates1763668803021';
  sqlChecksum = '1c4d5a067a6ed30d836bc29529ac6f9c059129d2b99157bbb892aec2ffd879b5';
}
