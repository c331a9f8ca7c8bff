import { SqlVersion } from '@gatehouse/persistence';

/** Events of applications are noted for their webhooks. */
export class NoteApplicationEvents1763668801801 extends SqlVersion {
  name = 'NoteApplicationEvents1763668801801';
  sqlChecksum = 'ab558a09a1254d81fc5de3f58cbab7ae82c7ab837f1aa5089059ab049032b48a';
}
