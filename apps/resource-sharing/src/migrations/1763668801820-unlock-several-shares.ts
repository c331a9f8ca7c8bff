import { SqlVersion } from '@gatehouse/persistence';

/** Several shares of one user are unlocked in one transaction. */
export class UnlockSeveralShares1763668801820 extends SqlVersion {
  name = 'UnlockSeveralShares1763668801820';
  sqlChecksum = '05ef16eabc4edffa97a1ff373f928ea8c1fd2381da00420b9b1ab46443ea6c2b';
}
