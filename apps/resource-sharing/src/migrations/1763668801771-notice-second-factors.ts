import { SqlVersion } from '@gatehouse/persistence';

/** Changes of second factors are notices. */
export class NoticeSecondFactors1763668801771 extends SqlVersion {
  name = 'NoticeSecondFactors1763668801771';
  sqlChecksum = '6dbd53ee9d24fdc8c2a4e0a13e45f3d598e97a47c899abf7451e1b85c5fdedac';
}
