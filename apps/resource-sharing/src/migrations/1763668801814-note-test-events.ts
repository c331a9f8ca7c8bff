import { SqlVersion } from '@gatehouse/persistence';

/** Unlocks of test calls are noted for webhooks that want to know. */
export class NoteTestEvents1763668801814 extends SqlVersion {
  name = 'NoteTestEvents1763668801814';
  sqlChecksum = '65613e571a468fece7a23502bd98651562646ee0bd1213f25ea6bc5b5b8ca442';
}
