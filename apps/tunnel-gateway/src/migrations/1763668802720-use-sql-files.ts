import { SqlVersion } from '@gatehouse/persistence';

/** From here on functions and triggers are those of data/sql. */
export class UseSqlFiles1763668802720 extends SqlVersion {
  name = 'UseSqlFiles1763668802720';
  sqlChecksum = 'd9210b780001da543d04ffe056753dbf6a136f076ad377f7712f13ae2fd68af4';
}
