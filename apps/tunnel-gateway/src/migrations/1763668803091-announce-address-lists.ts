import { SqlVersion } from '@gatehouse/persistence';

/** Edges hear when the content of a list changes, and consoles when anything of one does. */
export class AnnounceAddressLists1763668803091 extends SqlVersion {
  name = 'AnnounceAddressLists1763668803091';
  sqlChecksum = '8e2e019804160110c749ffd47c6160ef2f8be51ddd25f461acb83d3fc75bfdfd';
}
