import { SqlVersion } from '@gatehouse/persistence';

/** From here on functions and triggers are those of data/sql. */
export class UseSqlFiles1763668801710 extends SqlVersion {
  name = 'UseSqlFiles1763668801710';
  sqlChecksum = 'abb49aa3c78e5b421f1e63ac4afa04c854a99cfe8d09bcaddc533460497b333f';
}
