import { SqlVersion } from '@gatehouse/persistence';

/** Edges hear when the path for targets, sticky visitors or the limit of bodies change. */
export class AnnounceHostOptions1763668802921 extends SqlVersion {
  name = 'AnnounceHostOptions1763668802921';
  sqlChecksum = 'b32489e4ad430bcf1bc9b6917da07092fe4eb2b6a11901a34eeed7a216dd2411';
}
