import { SqlVersion } from '@gatehouse/persistence';

/** From here on functions and triggers are those of data/sql. */
export class UseSqlFiles1763668800700 extends SqlVersion {
  name = 'UseSqlFiles1763668800700';
  sqlChecksum = '1e121058cdd4bcec7e7558ee21decd05644767f0a77a07d61e164f78579c1ffe';
}
