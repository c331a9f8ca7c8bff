import { SqlVersion } from '@gatehouse/persistence';

/** Edges hear when the path for targets, sticky visitors, the limit of bodies or the error page change. */
export class AnnounceHostOptions1763668802921 extends SqlVersion {
  name = 'AnnounceHostOptions1763668802921';
  sqlChecksum = 'a3db2f7ec51f6e7ac72c91b0414429791642c58320bb8aeb27836a8fa6325cf9';
}
