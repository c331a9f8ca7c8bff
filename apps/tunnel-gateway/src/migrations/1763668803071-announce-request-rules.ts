import { SqlVersion } from '@gatehouse/persistence';

/** Edges and consoles hear when a rule changes what it says about requests. */
export class AnnounceRequestRules1763668803071 extends SqlVersion {
  name = 'AnnounceRequestRules1763668803071';
  sqlChecksum = '0315c843f1699f7bb2d1c564a435ff535be22afa0a09760b6917c8600d0202a6';
}
