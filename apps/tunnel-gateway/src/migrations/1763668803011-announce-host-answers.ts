import { SqlVersion } from '@gatehouse/persistence';

/** Edges hear when the redirect or the compression of a host changes. */
export class AnnounceHostAnswers1763668803011 extends SqlVersion {
  name = 'AnnounceHostAnswers1763668803011';
  sqlChecksum = 'd499544aa3312c3cae14f4000c136ad6494f238470999727011980d7d96c67de';
}
