import { SqlVersion } from '@gatehouse/persistence';

/** Test shares of a disabled account are shut, as real ones are. */
export class ShutTestShares1763668801824 extends SqlVersion {
  name = 'ShutTestShares1763668801824';
  sqlChecksum = '7b579d4d49b344533471aec32a8b76cce1a06e6d2295f6c0ad9359e19e7fa31a';
}
