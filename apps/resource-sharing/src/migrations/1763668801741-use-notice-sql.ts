import { SqlVersion } from '@gatehouse/persistence';

/** The functions and the trigger that make notices of events. */
export class UseNoticeSql1763668801741 extends SqlVersion {
  name = 'UseNoticeSql1763668801741';
  sqlChecksum = 'f92e18f7b97c52b2bd1ae93edd1cfc24034dc57968f4ee33bee19b8e63db51f4';
}
