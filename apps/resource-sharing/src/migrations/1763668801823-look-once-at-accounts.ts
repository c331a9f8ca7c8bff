import { SqlVersion } from '@gatehouse/persistence';

/** An unlock costs less: its event is not looked at as a notice, and its accounts are looked at in one statement each. */
export class LookOnceAtAccounts1763668801823 extends SqlVersion {
  name = 'LookOnceAtAccounts1763668801823';
  sqlChecksum = 'd69d754fbd0c1995cc3887c1a2198df5d39c7f1c3cf7d0c6d7af3afd23322cbf';
}
