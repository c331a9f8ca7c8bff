import { SqlVersion } from '@gatehouse/persistence';

/** Edges hear when the content of a list changes, and consoles when anything of one does. */
export class AnnounceAddressLists1763668803091 extends SqlVersion {
  name = 'AnnounceAddressLists1763668803091';
  sqlChecksum = 'd4ea9a9f262b983902169abbffd2ac3f706c4d5f8caf4d545803a848b9c2c746';
}
