import { SqlVersion } from '@gatehouse/persistence';

/** Marks of changes also by connections without a search path, such as those that replace secret keys. */
export class MarkWithoutSearchPath1763668800920 extends SqlVersion {
  name = 'MarkWithoutSearchPath1763668800920';
  readonly oldestRelease = '0.1.0';
  sqlChecksum = 'a4db19814e1729fc339dca2992b85d066f41944357f0f33fa319a7cf00c2150e';
}
