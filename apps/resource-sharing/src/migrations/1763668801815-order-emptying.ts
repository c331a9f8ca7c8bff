import { SqlVersion } from '@gatehouse/persistence';

/** Test data are emptied in the order in which unlocks lock them. */
export class OrderEmptying1763668801815 extends SqlVersion {
  name = 'OrderEmptying1763668801815';
  sqlChecksum = '4d88816ea054ecc9f7b181fec50e85aca22d7c88d444786b1d3bed8b53a6fd21';
}
