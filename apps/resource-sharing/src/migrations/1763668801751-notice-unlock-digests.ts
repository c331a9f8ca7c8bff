import { SqlVersion } from '@gatehouse/persistence';

/** The digest of a day's unlocks is a notice. */
export class NoticeUnlockDigests1763668801751 extends SqlVersion {
  name = 'NoticeUnlockDigests1763668801751';
  sqlChecksum = 'b867292dcb79f515272cd8d337d705154fd682541295d489e4f60bdf14319660';
}
