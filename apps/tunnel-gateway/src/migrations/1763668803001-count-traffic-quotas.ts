import { SqlVersion } from '@gatehouse/persistence';

/** Edges hear of quotas, which go with what they are about. */
export class CountTrafficQuotas1763668803001 extends SqlVersion {
  name = 'CountTrafficQuotas1763668803001';
  sqlChecksum = '6df917de5add2c93a4ad6494d87c9f584efb9f833e328f106819f2e12b0676b7';
}
